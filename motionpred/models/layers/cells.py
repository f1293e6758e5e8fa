"""Point-rotary attention of large scenes: queries by square cells, measured from the cell's middle.

The scores hold squares of positions; far from the centre their rounding shows (6e-8 R² / (2 σ²)).
Any centre gives the same attention, so queries of one cell share one that is near: the same
mathematics, with a few times less rounding in scenes of more than about 150 m, at the cost of one
product for each cell.

Shapes: S sets, N queries, M keys, D width, n queries of a cell, Z what is read.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from motionpred.models.layers.places import LENGTH, HeadShape, Places

if TYPE_CHECKING:
    from motionpred.models.layers.point_rotary import PointRotaryAttention


def read_by_cells(
    layer: PointRotaryAttention, x: Tensor, places: Places, keys: Tensor, at: Places
) -> Tensor:
    """:meth:`PointRotaryAttention.read`, cell by cell; the number of cells depends on the data."""
    assert layer.cell is not None
    leading = x.shape[:-1]
    places = places.map(lambda table: table.expand(*leading, -1))
    if x.ndim > keys.ndim:  # modes that look at the same keys
        x, places = x.flatten(1, 2), places.map(lambda table: table.flatten(1, 2))
    x_SND, places = x.flatten(0, -3), places.map(lambda table: table.flatten(0, -3))
    keys_SMD = keys.flatten(0, -3)
    at = at.map(lambda table: table.expand(*keys.shape[:-1], -1).flatten(0, -3))

    side = layer.cell / LENGTH
    # Of every pair of points the tables hold the position of the token, the last one is of a point.
    cell_SN2 = torch.stack([places.x[..., -1], places.y[..., -1]], dim=-1).div(side).round()
    result: Tensor | None = None
    for cell_2 in torch.unique(cell_SN2.detach().flatten(0, 1), dim=0):
        inside_SN = (cell_SN2 == cell_2).all(-1)
        row_Sn = (~inside_SN).to(torch.uint8).argsort(dim=-1, stable=True)
        row_Sn = row_Sn[:, : int(inside_SN.sum(-1).max())]
        around = _shifted(places.map(partial(_take, row_Sn=row_Sn)), cell_2 * side, layer.shape)
        there = _shifted(at, cell_2 * side, layer.shape)
        read_SnZ = layer.read(_take(x_SND, row_Sn), around, keys_SMD, there)
        if result is None:
            result = read_SnZ.new_zeros(*x_SND.shape[:-1], read_SnZ.shape[-1])
        kept_Sn1 = inside_SN.gather(1, row_Sn)[..., None]
        own = torch.where(kept_Sn1, read_SnZ, _take(result, row_Sn))
        result = result.scatter(1, row_Sn[..., None].expand_as(own), own)
    assert result is not None
    return result.reshape(*leading, -1)


def _take(values_SNX: Tensor, row_Sn: Tensor) -> Tensor:
    return values_SNX.gather(1, row_Sn[..., None].expand(-1, -1, values_SNX.shape[-1]))


def _shifted(places: Places, middle_2: Tensor, shape: HeadShape) -> Places:
    """The same places, measured from ``middle``."""
    is_point = [0.0] * shape.feature_pairs + [1.0] * shape.points
    point = middle_2.new_tensor(is_point).repeat(2 * shape.heads)
    return Places(
        places.cos,
        places.sin,
        places.x - middle_2[0] * point,
        places.y - middle_2[1] * point,
        places.rest,
    )
