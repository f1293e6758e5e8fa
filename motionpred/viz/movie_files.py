"""Animation files: GIF by Pillow, MP4 by the ffmpeg that comes with imageio-ffmpeg."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from motionpred.errors import ConfigError, MotionpredError
from motionpred.viz.palette import Palette
from motionpred.viz.whole_file import whole_file

Array = npt.NDArray[Any]

FORMATS = (".gif", ".mp4")
MOST_FPS = 50  # the shortest time that viewers of GIF files keep to is 20 ms


def check_format(path: Path) -> None:
    """Whether an animation can be written to a file of that name, before any work is done.

    Raises:
        ConfigError: another kind of file, or MP4 without the extra ``video``.
    """
    if path.suffix.lower() not in FORMATS:
        raise ConfigError(
            f"is {path.name}", field="path", remedy="Name a .gif or .mp4 file for an animation"
        )
    if path.suffix.lower() == ".mp4":
        _ffmpeg()


def write_movie(
    frames: Iterable[Array],
    durations: Sequence[float],
    path: Path,
    *,
    fps: float,
    samples: Sequence[Array],
) -> Path:
    """Write frames ``[height, width, 3]`` uint8 that last ``durations`` seconds, or nothing.

    ``samples`` are frames that show every colour; the palette of a GIF is made from them.
    """
    with whole_file(path) as part:
        if path.suffix.lower() == ".gif":
            _write_gif(frames, durations, part, samples)
        else:
            _write_mp4(frames, durations, part, fps)
    return path


def _write_gif(
    frames: Iterable[Array], durations: Sequence[float], part: Path, samples: Sequence[Array]
) -> None:
    palette = Palette(samples)
    rest = (palette.image(frame) for frame in frames)
    first = next(rest)
    with part.open("wb") as file:
        first.save(
            file,
            format="GIF",
            save_all=True,
            append_images=rest,
            duration=[round(100 * seconds) * 10 for seconds in durations],
            loop=0,
            optimize=True,  # stores what changed since the frame before
            disposal=1,
        )


def _write_mp4(frames: Iterable[Array], durations: Sequence[float], part: Path, fps: float) -> None:
    remaining = iter(frames)
    first = next(remaining)
    height, width = (size // 2 * 2 for size in first.shape[:2])  # 4:2:0 needs even sides
    command = [_ffmpeg(), "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{width}x{height}", "-r", f"{fps:g}", "-i", "-", "-an"]
    command += ["-c:v", "libx264", "-crf", "20", "-preset", "medium", "-pix_fmt", "yuv420p"]
    command += ["-movflags", "+faststart", "-f", "mp4", str(part)]
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=said)
        assert process.stdin is not None
        try:
            for frame, seconds in zip(_chain(first, remaining), durations, strict=True):
                pixels = frame[:height, :width].tobytes()
                for _ in range(max(round(seconds * fps), 1)):
                    process.stdin.write(pixels)
            process.stdin.close()
        except BrokenPipeError:
            pass  # ffmpeg has given up; it says why below
        except BaseException:
            process.kill()
            raise
        finally:
            code = process.wait()
        if code:
            said.seek(0)
            reason = said.read().decode(errors="replace").strip().splitlines() or [f"code {code}"]
            raise MotionpredError(f"ffmpeg failed: {reason[-1]}", file=part.with_suffix(""))


def _chain(first: Array, rest: Iterator[Array]) -> Iterator[Array]:
    yield first
    yield from rest


def _ffmpeg() -> str:
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise ConfigError(
            "MP4 files need ffmpeg, which comes with imageio-ffmpeg",
            remedy="pip install 'motionpred[video]', or name a .gif file",
        ) from error
