"""A linear layer in bfloat16 is near torch's own in float32, whatever the number of rows."""

import pytest
import torch
from torch import nn

from onmt_preorder.cpu.bfloat16_linear import ROWS, Bfloat16Linear, filled_up


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1,), (ROWS,), (ROWS + 1,), (2, 3, 4), (2 * ROWS, 2)])
def test_is_near_torch(shape, bias):
    torch.manual_seed(1)
    layer = Bfloat16Linear(6, 5, bias)
    states, factors = torch.randn(*shape, 6, requires_grad=True), torch.randn(*shape, 5)
    inputs = states, *layer.parameters()
    products = layer(states), nn.Linear.forward(layer, states)
    found, exact = (
        (product, *torch.autograd.grad((product * factors).sum(), inputs)) for product in products
    )
    for index, (rounded, tensor) in enumerate(zip(found, exact, strict=True)):
        assert (rounded.shape, rounded.dtype) == (tensor.shape, torch.float32)
        if index < 3:
            assert 0 < (rounded - tensor).norm() < 0.01 * tensor.norm()
        else:  # the bias's: a sum, without a product
            torch.testing.assert_close(rounded, tensor)
    assert torch.equal(layer.eval()(states), products[1])  # outside training it is float32


def test_gradients_of_what_is_learned_alone_through_a_product_changed_in_place():
    layer = Bfloat16Linear(6, 5)
    layer.weight.requires_grad_(False)
    product = layer(torch.randn(4, 3, 6)).view(4, 3, 5).transpose(1, 2)
    product /= 2
    product.sum().backward()
    assert layer.weight.grad is None
    assert layer.bias.grad.tolist() == [6.0] * 5


@pytest.mark.parametrize("rows", [1, ROWS - 1, ROWS, ROWS + 1])
def test_products_have_few_shapes(rows):
    matrix = torch.ones(rows, 3)
    whole = filled_up(matrix, torch.bfloat16)
    assert len(whole) == (2 * ROWS if rows > ROWS else ROWS)
    assert torch.equal(whole[:rows], matrix.to(torch.bfloat16))
    assert not whole[rows:].any()
    assert filled_up(matrix, torch.float32) is matrix
