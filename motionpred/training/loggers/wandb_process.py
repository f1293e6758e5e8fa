"""The process of the Weights & Biases logger; run by path, it imports nothing of motionpred.

It reads messages from stdin, one JSON object a line, and answers each by one on stdout.
"""

from __future__ import annotations

import json
import os
from typing import Any


class Channel:
    """Messages of the training and the answers to them, and nothing else.

    What libraries print belongs into the log, and what they ask nobody is there to tell.
    """

    def __init__(self) -> None:
        self.messages = os.fdopen(os.dup(0), encoding="utf-8")
        self._answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)

    def answer(self, **values: Any) -> None:
        """One line to the training."""
        self._answers.write(json.dumps(values) + "\n")
        self._answers.flush()


def start(wandb: Any, message: dict[str, Any]) -> Any:
    """The run of the message; it goes on with the steps of an earlier one of the same id."""
    return wandb.init(
        project=message["project"],
        id=message["id"],
        name=message["name"],
        dir=message["dir"],
        mode=message["mode"],
        config=message["config"],
        tags=message["tags"],
        # Offline, a run that goes on is a new folder of the same id; the upload joins them.
        resume="allow" if message["mode"] == "online" else None,
        settings=wandb.Settings(
            init_timeout=message["limit"], console="off", disable_git=True, save_code=False
        ),
    )


def log(wandb: Any, run: Any, message: dict[str, Any]) -> None:
    """One message."""
    step = message["step"]
    if "values" in message:
        run.log(message["values"], step=step)
    elif "picture" in message:
        run.log({f"pictures/{message['picture']}": wandb.Image(message["path"])}, step=step)
    else:
        artifact = wandb.Artifact(f"{run.id}-best", type="model", metadata={"step": step})
        artifact.add_dir(message["bundle"])
        run.log_artifact(artifact)


def main() -> None:
    """Serve one run."""
    channel = Channel()
    try:
        import wandb
    except ImportError as error:
        channel.answer(error=f"{error}; install it with: pip install 'motionpred[wandb]'")
        return
    channel.answer(ready=True)
    run: Any = None
    for line in channel.messages:
        message = json.loads(line)
        try:
            if run is None:
                run = start(wandb, message)
                channel.answer(folder=run.settings.sync_dir)
            elif "end" in message:
                run.finish()
                channel.answer(end=True)
                return
            else:
                log(wandb, run, message)
                channel.answer(done=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, the training hears of it
            channel.answer(error=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
