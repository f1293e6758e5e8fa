"""The scene encoder that all learned families share."""

from motionpred.models.encoder.config import EncoderConfig
from motionpred.models.encoder.scene_encoder import SceneEncoder
from motionpred.models.encoder.sizes import SIZES, Size, SizeName
from motionpred.models.encoder.tokens import SceneTokens

__all__ = ["SIZES", "EncoderConfig", "SceneEncoder", "SceneTokens", "Size", "SizeName"]
