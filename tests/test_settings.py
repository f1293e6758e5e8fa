"""Plain mappings become typed settings, or an error that names the place and the nearest word."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml

from motionpred.errors import ConfigError
from motionpred.settings import from_mapping, to_mapping


class Colour(Enum):
    RED = 1
    DARK_BLUE = 2


@dataclass(frozen=True)
class Wheel:
    radius: float = 0.3  # metres
    spokes: int | None = None

    def __post_init__(self) -> None:
        if self.radius <= 0:
            raise ConfigError(f"is {self.radius}", field="radius")


@dataclass(frozen=True)
class Car:
    name: str
    wheels: list[Wheel] = field(default_factory=list)
    spare: Wheel | None = None
    front: Wheel = Wheel()
    gear: Literal["manual", "automatic"] = "manual"
    size: tuple[float, float] = (4.5, 1.8)
    stops: tuple[int, ...] = ()
    colour: Colour = Colour.RED
    manual: Path | None = None
    electric: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    length: int | Literal["auto"] = "auto"
    anything: Any = None


def car(**values: Any) -> Car:
    return from_mapping(Car, {"name": "beetle", **values})


def test_what_is_not_said_keeps_its_default():
    assert car() == Car("beetle")


def test_nested_settings_of_a_nested_mapping():
    made = car(front={"radius": 0.4}, wheels=[{"spokes": 8}, {}])
    assert made.front == Wheel(0.4)
    assert made.wheels == [Wheel(0.3, 8), Wheel()]


def test_settings_that_are_made_already_are_taken_as_they_are():
    wheel = Wheel(0.5)
    assert car(front=wheel).front is wheel


def test_an_optional_setting_may_be_none_or_be_there():
    assert car(spare=None).spare is None
    assert car(spare={"spokes": 5}).spare == Wheel(spokes=5)
    with pytest.raises(ConfigError, match=r"field=front"):
        car(front=None)


@pytest.mark.parametrize(("given", "number"), [(2, 2.0), (0.25, 0.25), ("1e-3", 0.001), ("5", 5.0)])
def test_a_float_may_be_written_as_a_whole_number_or_as_yaml_reads_1e_3(given, number):
    assert yaml.safe_load("1e-3") == "1e-3"  # why words are taken at all
    radius = car(front={"radius": given}).front.radius
    assert radius == number
    assert type(radius) is float


def test_a_tuple_of_fixed_and_of_any_length_from_a_list():
    made = car(size=[4, "1e0"], stops=[3, 1, 2])
    assert made.size == (4.0, 1.0)
    assert made.stops == (3, 1, 2)
    assert car(stops=[]).stops == ()


@pytest.mark.parametrize("word", ["dark_blue", "DARK_BLUE", Colour.DARK_BLUE])
def test_an_enum_by_its_name_in_either_case(word):
    assert car(colour=word).colour is Colour.DARK_BLUE


def test_paths_words_and_unions():
    assert car(manual="a/b.pdf").manual == Path("a/b.pdf")
    assert car(gear="automatic").gear == "automatic"
    assert car(length=4).length == 4
    assert car(length="auto").length == "auto"
    assert car(options={"radio": [1, None]}).options == {"radio": [1, None]}
    assert car(anything={1: 2}).anything == {1: 2}


@pytest.mark.parametrize(
    ("values", "place", "message"),
    [
        ({"colr": "red"}, "colr", "unknown setting.*Did you mean 'colour'"),
        ({"front": {"radios": 1}}, "front.radios", "unknown setting.*Did you mean 'radius'"),
        ({"wheels": [{}, {"x": 1}]}, "wheels[1].x", "unknown setting"),
        ({7: 1}, "7", "unknown setting"),
        ({"gear": "automatc"}, "gear", "is 'automatc'.*Did you mean 'automatic'"),
        ({"colour": "dark_blu"}, "colour", "Did you mean 'dark_blue'"),
        ({"front": {"radius": "wide"}}, "front.radius", "must be float, it is 'wide'"),
        ({"front": {"radius": -1}}, "front.radius", r"is -1\.0"),
        ({"front": {"radius": True}}, "front.radius", "must be float, it is True"),
        ({"front": {"spokes": 2.5}}, "front.spokes", r"must be int, it is 2\.5"),
        ({"front": {"spokes": False}}, "front.spokes", "must be int, it is False"),
        ({"front": {"spokes": "8"}}, "front.spokes", "must be int, it is '8'"),
        ({"electric": 1}, "electric", "must be bool, it is 1"),
        ({"name": 3}, "name", "must be str, it is 3"),
        ({"size": [1.0]}, "size", "must have 2 entries"),
        ({"size": [1.0, "wide"]}, "size[1]", "must be float"),
        ({"stops": "12"}, "stops", "must be a list, it is '12'"),
        ({"wheels": {"radius": 1}}, "wheels", "must be a list"),
        ({"options": [1]}, "options", "must be a mapping"),
        ({"front": 3}, "front", "must be a mapping, it is 3"),
        ({"manual": 3}, "manual", "must be Path"),
        ({"length": "long"}, "length", "must be int, it is 'long'"),
    ],
)
def test_what_does_not_fit_names_the_dotted_place(values, place, message):
    with pytest.raises(ConfigError, match=message) as caught:
        from_mapping(Car, {"name": "beetle", **values})
    assert caught.value.field == place


def test_a_setting_that_has_to_be_given_is_missed_by_name():
    with pytest.raises(ConfigError, match="a setting is missing") as caught:
        from_mapping(Car, {})
    assert caught.value.field == "name"
    with pytest.raises(ConfigError) as caught:
        from_mapping(Car, {}, at="garage.car")
    assert caught.value.field == "garage.car.name"


def test_what_is_no_mapping_at_all_is_refused():
    with pytest.raises(ConfigError, match=r"must be a mapping, it is \[1\]") as caught:
        from_mapping(Car, [1])
    assert caught.value.field == "Car"


def test_settings_go_through_yaml_and_come_back_the_same():
    made = Car(
        "käfer",
        wheels=[Wheel(1e-3, 8), Wheel(1e20)],
        spare=Wheel(),
        gear="automatic",
        size=(1.0, 2.0),
        stops=(1, 2),
        colour=Colour.DARK_BLUE,
        manual=Path("a/b"),
        electric=True,
        options={"radio": [1, None]},
        length=3,
    )
    plain = to_mapping(made)
    assert plain["colour"] == "DARK_BLUE"
    assert plain["size"] == [1.0, 2.0]
    assert plain["wheels"][0] == {"radius": 1e-3, "spokes": 8}
    assert from_mapping(Car, yaml.safe_load(yaml.safe_dump(plain, allow_unicode=True))) == made
