"""OpenNMT-py's training in several processes, with processors in place of GPUs.

Each process is started afresh and imports this file, so that each finds the same stand-ins. Each prints how
many gradients it shares with the others.
"""

import onmt.model_builder
import onmt.train_single
import onmt.utils.distributed as distributed
import torch

import onmt_preorder

onmt_preorder.register()  # in each process
torch.cuda.device_count = lambda: 2
torch.cuda.set_device = lambda device: None
torch.cuda.ByteTensor = torch.ByteTensor
torch.Tensor.cuda = lambda tensor: tensor
onmt.model_builder.use_gpu = onmt.utils.misc.use_gpu = lambda opt: False

_read = onmt.train_single.build_dynamic_dataset_iter
_share = distributed.all_reduce_and_rescale_tensors


def _read_on_processor(*args, **kwargs):
    return _read(*args, **{**kwargs, "device_id": -1})


def _share_aloud(gradients, *args):
    print(f"shares {len(gradients)} gradients", flush=True)
    _share(gradients, *args)


onmt.train_single.build_dynamic_dataset_iter = _read_on_processor
distributed.all_reduce_and_rescale_tensors = _share_aloud

if __name__ == "__main__":
    from onmt.bin.train import main

    main()
