"""The kinds of place: road, curve, merge, junctions, roundabout; each drawn at random."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from motionpred.datasets.synthetic.arms import make_arm
from motionpred.datasets.synthetic.draws import Draws
from motionpred.datasets.synthetic.layouts import LEFT, RIGHT, STRAIGHT, Layout, LayoutBuilder
from motionpred.datasets.synthetic.roundabout import roundabout


def draw_layout(draws: Draws) -> Layout:
    """A place of a random kind."""
    name = draws.choose(list(_KINDS), [weight for weight, _ in _KINDS.values()])
    return _KINDS[name][1](name, draws)


def _straight(name: str, draws: Draws) -> Layout:
    return _through_road(name, draws, turn=draws.number(-0.05, 0.05), bend=0.006)


def _curve(name: str, draws: Draws) -> Layout:
    sharp = draws.choose((-1.0, 1.0), (1, 1)) * draws.number(0.012, 0.03)
    return _through_road(name, draws, turn=draws.number(-0.2, 0.2), bend=sharp)


def _through_road(name: str, draws: Draws, *, turn: float, bend: float) -> Layout:
    """Two arms of one road; a crosswalk lies between them."""
    lanes = draws.choose((1, 2, 3), (3, 5, 2) if name == "straight" else (6, 3, 0))
    limit = draws.number(10.0, 17.0)
    width = draws.number(3.2, 3.7)
    median = draws.choose((0.0, 2.0), (3, 1))
    parking = draws.chance(0.8), draws.chance(0.8)
    arms = []
    for number in range(2):
        angle = np.pi * number + turn * number
        if name == "curve":
            first = draws.number(2.0, 30.0)
            bends = [(first, bend), (first + draws.number(30.0, 60.0), draws.number(-0.01, 0.01))]
        else:
            bends = _gentle(draws, bend)
        arms.append(
            make_arm(
                angle,
                3.5,
                bends,
                lanes=(lanes, lanes),
                width=width,
                median=median,
                limit=limit,
                parking=parking if number == 0 else parking[::-1],
                crosswalk=number == 0,
            )
        )
    builder = LayoutBuilder(name, arms)
    for number in range(2):
        for lane in range(lanes):
            builder.join((number, lane), (1 - number, lane), limit, STRAIGHT)
    return builder.finish(crosswalk_courtesy=0.7, demand=draws.number(0.08, 0.22))


def _merge(name: str, draws: Draws) -> Layout:
    """A road that a ramp joins, or that loses a lane; one may leave the other carriageway."""
    lanes = draws.integer(1, 2)
    limit = draws.number(11.0, 20.0)
    width = draws.number(3.3, 3.7)
    drop = draws.chance(0.4)
    inner = lanes + int(drop)
    bends = _gentle(draws, 0.008)
    west = make_arm(
        np.pi,
        24.0,
        bends,
        lanes=(inner, lanes),
        width=width,
        median=1.5,
        limit=limit,
        parking=(False, False),
        crosswalk=False,
    )
    east = make_arm(
        0.0,
        24.0,
        _gentle(draws, 0.008),
        lanes=(lanes, lanes),
        width=width,
        median=1.5,
        limit=limit,
        parking=(True, False),
        crosswalk=False,
    )
    ramp = make_arm(
        np.pi + draws.number(0.35, 0.5),
        38.0,
        [(0.0, draws.number(0.0, 0.012))],
        lanes=(1, 0),
        width=width,
        median=0.0,
        limit=limit * 0.8,
        parking=(False, False),
        crosswalk=False,
    )
    leaves = draws.chance(0.6)
    away = make_arm(
        np.pi - draws.number(0.35, 0.5),
        38.0,
        [(0.0, -draws.number(0.0, 0.012))],
        lanes=(0, 1),
        width=width,
        median=0.0,
        limit=limit * 0.8,
        parking=(False, False),
        crosswalk=False,
    )
    arms = [west, east, *([] if drop else [ramp]), *([away] if leaves else [])]
    builder = LayoutBuilder(name, arms)
    for lane in range(inner):
        builder.join((0, lane), (1, min(lane, lanes - 1)), limit, STRAIGHT)
    for lane in range(lanes):
        builder.join((1, lane), (0, lane), limit, STRAIGHT)
    if not drop:
        builder.join((2, 0), (1, lanes - 1), limit, RIGHT)
    if leaves:
        builder.join((1, lanes - 1), (len(arms) - 1, 0), limit, RIGHT)
    return builder.finish(demand=draws.number(0.1, 0.22))


def _junction(name: str, draws: Draws) -> Layout:
    """Three or four arms; signals, or signs, or nothing but the order of arrival."""
    signals = name == "signalised"
    angles = [0.0, np.pi / 2, np.pi, -np.pi / 2]
    if draws.chance(0.3):
        angles.pop(draws.choose((1, 3), (1, 1)))
    angles = [angle + draws.number(-0.17, 0.17) for angle in angles]
    size = draws.choose((1, 2, 3), (2, 6, 2) if signals else (7, 2, 0))
    rule = "signals" if signals else draws.choose(("stop", "yield", "equal"), (3, 3, 4))
    width = draws.number(3.1, 3.6)
    limit = draws.number(8.0, 13.5) if signals else draws.number(7.5, 12.5)
    arms = []
    for angle in angles:
        straight_on = abs(np.sin(angle)) < 0.5
        lanes = size if straight_on else max(1, size - draws.integer(0, 1))
        arms.append(
            make_arm(
                angle,
                9.0 + size * width,
                _gentle(draws, 0.018 if draws.chance(0.5) else 0.007),
                lanes=(lanes, lanes),
                width=width,
                median=draws.choose((0.0, 1.5), (2, 1)),
                limit=limit,
                parking=(draws.chance(0.65), draws.chance(0.65)),
                crosswalk=signals or draws.chance(0.8),
                clear=18.0,
            )
        )
    builder = LayoutBuilder(name, arms)
    for number, angle in enumerate(angles):
        major = abs(np.sin(angle)) < 0.5
        _movements(builder, number, limit, rule, major)
    phase = None
    if signals:
        split = draws.chance(0.25)
        phase = [
            number if split else int(abs(np.sin(angle)) > 0.5)
            for number, angle in enumerate(angles)
        ]
    demand = draws.number(0.06, 0.18) if signals else draws.number(0.06, 0.16)
    return builder.finish(arm_phase=phase, demand=demand, crosswalk_courtesy=0.85)


def _movements(builder: LayoutBuilder, arm: int, limit: float, rule: str, major: bool) -> None:
    """Paths from every lane of an arm: left from the inner one, right from the outer one."""
    shape = builder.arms[arm]
    served = set()
    for other, target in enumerate(builder.arms):
        if other == arm:
            continue
        turn_angle = (target.angle - shape.angle - np.pi + np.pi) % (2 * np.pi) - np.pi
        turn = STRAIGHT if abs(turn_angle) < 0.7 else (LEFT if turn_angle > 0 else RIGHT)
        rank = int(turn != LEFT) if rule != "equal" else 0
        if rule in ("stop", "yield"):
            rank += 2 * int(major)
        stop = rule == "stop" and not major
        if turn == LEFT:
            pairs = [(0, 0)]
        elif turn == RIGHT:
            pairs = [(shape.inbound - 1, target.outbound - 1)]
        else:
            first = 1 if shape.inbound >= 3 else 0
            pairs = [(lane, min(lane, target.outbound - 1)) for lane in range(first, shape.inbound)]
        for lane, to_lane in pairs:
            served.add(lane)
            builder.join((arm, lane), (other, to_lane), limit, turn, rank=rank, stop=stop)
    for lane in set(range(shape.inbound)) - served:
        other = max(range(len(builder.arms)), key=lambda n: (n != arm, builder.arms[n].outbound))
        to_lane = min(lane, builder.arms[other].outbound - 1)
        builder.join((arm, lane), (other, to_lane), limit, STRAIGHT)


def _round(name: str, draws: Draws) -> Layout:
    count = draws.choose((3, 4), (2, 3))
    radius = draws.number(13.0, 19.0)
    limit = draws.number(9.0, 13.0)
    width = draws.number(3.4, 3.9)
    arms = [
        make_arm(
            2 * np.pi * number / count + draws.number(-0.15, 0.15),
            radius + 14.0,
            _gentle(draws, 0.015),
            lanes=(1, 1),
            width=width,
            median=2.5,
            limit=limit,
            parking=(draws.chance(0.6), draws.chance(0.6)),
            crosswalk=draws.chance(0.7),
            clear=15.0,
        )
        for number in range(count)
    ]
    return roundabout(name, arms, radius, demand=draws.number(0.07, 0.17))


def _gentle(draws: Draws, bend: float) -> list[tuple[float, float]]:
    first = draws.number(15.0, 50.0)
    return [(first, draws.number(-bend, bend)), (first + 35.0, draws.number(-bend, bend))]


_KINDS: dict[str, tuple[float, Callable[[str, Draws], Layout]]] = {
    "straight": (0.10, _straight),
    "curve": (0.09, _curve),
    "merge": (0.12, _merge),
    "signalised": (0.32, _junction),
    "unsignalised": (0.24, _junction),
    "roundabout": (0.13, _round),
}
