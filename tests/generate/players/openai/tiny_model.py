"""A Llama of a few thousand random weights and a byte tokenizer, made on the spot, and a real server for it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

READY_WITHIN = 120.0


def make(folder: Path) -> None:
    """Write the model and its tokenizer; it speaks gibberish."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {sign: number for number, sign in enumerate(["<pad>", "<s>", "</s>", *letters])}
    tokenizer = Tokenizer(models.BPE(vocab=words, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>", model_max_length=16384
    )
    fast.chat_template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: "
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=16384,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(do_sample=True, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    model.save_pretrained(folder)
    fast.save_pretrained(folder)


class ModelServer:
    """`transformers serve` in a process group of its own, offline. Raises RuntimeError when it does not come up."""

    def __init__(self, model: Path) -> None:
        self.model = str(model)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        command = [str(Path(sys.executable).with_name("transformers")), "serve", self.model, "--host", "127.0.0.1"]
        command += ["--port", str(port), "--device", "cpu", "--log-level", "info"]
        offline = {
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
            "CUDA_VISIBLE_DEVICES": "",
        }
        self._process = subprocess.Popen(
            command,
            env=os.environ | offline,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._said: list[str] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        if not self._ready.wait(READY_WITHIN) or self._process.poll() is not None:
            self.close()
            raise RuntimeError("transformers serve did not start:\n" + "".join(self._said[-20:]))

    def _read(self) -> None:
        """Keep the pipe empty, and notice the line that says the server listens; its end counts as a sign too."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.append(line)
            if "Uvicorn running on" in line:
                self._ready.set()
        self._ready.set()

    def close(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
