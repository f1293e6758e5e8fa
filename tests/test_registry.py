"""In-tree modules are found by scanning, plug-ins by entry points of installed packages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from motionpred.errors import ConfigError
from motionpred.registry import Registry, nearest

GROUP = "motionpred.test_shapes"


def shapes(package: str) -> Registry[str]:
    return Registry("shape", package=package, attribute="SHAPES", group=GROUP)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An importable package ``house_of_shapes`` with two shapes, and a module without any."""
    folder = tmp_path / "house_of_shapes"
    (folder / "round").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "flat.py").write_text("SHAPES = {'square': 'a square'}")
    (folder / "round" / "__init__.py").write_text("SHAPES = {'circle': 'a circle'}")
    (folder / "drawing.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "house_of_shapes"
    for name in [name for name in sys.modules if name.split(".")[0] == "house_of_shapes"]:
        del sys.modules[name]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Installs a distribution with entry points ``name -> object``, and a module beside it."""

    def put(distribution: str, points: dict[str, str], **modules: str) -> None:
        site = tmp_path / f"site-{distribution}"
        info = site / f"{distribution}-1.2.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2")
        lines = "\n".join(f"{name} = {target}" for name, target in points.items())
        (info / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}\n")
        for name, text in modules.items():
            (site / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(str(site))

    return put


def test_modules_and_packages_are_found_by_scanning(package):
    assert shapes(package).names() == ["circle", "square"]
    assert shapes(package).get("circle") == "a circle"


def test_nothing_is_imported_before_it_is_asked_for(package):
    shapes(package)
    assert "house_of_shapes.flat" not in sys.modules


def test_a_new_module_is_found_without_touching_a_list(package, tmp_path):
    (tmp_path / package / "pointed.py").write_text("SHAPES = {'star': 'a star'}")
    assert shapes(package).get("star") == "a star"


def test_a_plug_in_of_an_installed_package_is_found(package, install):
    install("solids", {"cube": "solids_code:CUBE"}, solids_code="CUBE = 'a cube'")
    assert shapes(package).names() == ["circle", "cube", "square"]
    assert shapes(package).get("cube") == "a cube"


def test_an_unknown_name_names_the_nearest_and_all_there_are(package):
    with pytest.raises(ConfigError, match="there is no shape called 'squares'") as caught:
        shapes(package).get("squares")
    assert caught.value.remedy == "Did you mean 'square'? Known: circle, square"


def test_far_from_every_name_only_the_list_is_given():
    assert nearest("zzz", ["b", "a"]) == "Known: a, b"
    assert nearest("zzz", []) == "Known: none"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("OTHER = 1", "AttributeError: .*CUBE"),
    ],
)
def test_a_plug_in_that_cannot_be_imported_is_named_with_its_cause_and_harms_no_other(
    package, install, monkeypatch, text, cause
):
    monkeypatch.delitem(sys.modules, "broken_code", raising=False)
    install("broken-solids", {"cube": "broken_code:CUBE"}, broken_code=text)
    registry = shapes(package)
    assert registry.names() == ["circle", "cube", "square"]
    assert registry.get("square") == "a square"
    with pytest.raises(ConfigError, match=rf"package broken-solids 1\.2 .*{cause}") as caught:
        registry.get("cube")
    assert caught.value.__cause__ is not None
    assert caught.value.remedy == "Repair or uninstall broken-solids 1.2"


def test_a_plug_in_cannot_take_a_name_that_is_in_tree(package, install):
    install("thief", {"circle": "thief_code:MINE"}, thief_code="raise RuntimeError('imported')")
    assert shapes(package).names() == ["circle", "square"]
    assert shapes(package).get("circle") == "a circle"


def test_two_plug_ins_of_one_name_are_an_error_that_names_both(package, install):
    install("one", {"cube": "one_code:CUBE", "cone": "one_code:CONE"}, one_code="CONE = 'a cone'")
    install("two", {"cube": "two_code:CUBE"}, two_code="CUBE = 'a cube'")
    registry = shapes(package)
    assert registry.names() == ["circle", "cone", "cube", "square"]
    assert registry.get("cone") == "a cone"
    with pytest.raises(ConfigError, match=r"one 1\.2 and two 1\.2"):
        registry.get("cube")


def test_two_modules_of_one_name_are_an_error(package, tmp_path):
    (tmp_path / package / "oval.py").write_text("SHAPES = {'circle': 'another circle'}")
    with pytest.raises(ConfigError, match="two of the shape 'circle'"):
        shapes(package).names()
