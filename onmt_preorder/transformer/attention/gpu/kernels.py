"""The Triton kernels of relative attention: one program a block of queries, or of keys, of one head.

As in FlashAttention (Dao 2023), scores are computed block by block and never written. What
the relative parts add:

- *Keys.* ``bias`` holds ``q · E_K^T``, one column a clipped distance. Beyond ±k a score gets
  one of two columns, the same for the whole row; only the ``2k-1`` keys of a row between
  them need an address of their own.
- *Values.* The attention by clipped distance is summed beyond ±k; between them each distance
  has one key at most, since positions are permutations, and that key's weight is simply
  written where it belongs. So there are no atomics, and what comes out is always the same.

All ``[b, h, n, x]`` tensors lie in memory as ``[b, n, h, x]``; ``row`` is the index of a
token's head there. ``p`` points to a sentence's positions; those of the next part are
``apart`` further on. ``LIMITS`` are the clipping distances, one for each part; a part's columns follow
those of the part before. ``pair`` says of each query and key whether both exist. Offsets are 32-bit.
"""

import triton
import triton.language as tl


@triton.jit
def _load_rows(tensor, row, inside, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """Load one row of SIZE numbers a token, as BLOCK columns."""
    column = tl.arange(0, BLOCK)
    mask = inside[:, None] & (column < SIZE)[None, :]
    return tl.load(tensor + row[:, None] * SIZE + column[None, :], mask=mask, other=0.0)


@triton.jit
def _store_rows(tensor, row, inside, value, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """Store what :func:`_load_rows` loads."""
    column = tl.arange(0, BLOCK)
    mask = inside[:, None] & (column < SIZE)[None, :]
    tl.store(tensor + row[:, None] * SIZE + column[None, :], value.to(tensor.dtype.element_ty), mask=mask)


@triton.jit
def _distances(p, i, j, n):
    """Return ``p_j - p_i`` of one part's positions."""
    of_queries = tl.load(p + i, mask=i < n, other=0)
    of_keys = tl.load(p + j, mask=j < n, other=0)
    return of_keys[None, :] - of_queries[:, None]


@triton.jit
def _spread(columns, row, i, j, pair, p, apart, n, LIMITS: tl.constexpr, WIDTH: tl.constexpr):
    """Return for each pair the column of its clipped distance, summed over the parts."""
    result = tl.zeros(pair.shape, tl.float32)
    zero = columns + row * WIDTH
    for part in tl.static_range(len(LIMITS)):
        limit = LIMITS[part]
        zero += limit
        distance = _distances(p + part * apart, i, j, n)
        first = tl.load(zero - limit, mask=i < n, other=0.0).to(tl.float32)
        last = tl.load(zero + limit, mask=i < n, other=0.0).to(tl.float32)
        is_near = pair & (distance > -limit) & (distance < limit)
        near = tl.load(zero[:, None] + distance, mask=is_near, other=0.0).to(tl.float32)
        result += tl.where(distance >= limit, last[:, None], tl.where(is_near, near, first[:, None]))
        zero += limit + 1
    return result


@triton.jit
def _collect(
    columns, row, i, j, pair, near, far, p, apart, n,
    LIMITS: tl.constexpr, WIDTH: tl.constexpr, ENDS: tl.constexpr,
):  # fmt: skip
    """Write each near pair's value to its column; return the sums of the far pairs' values.

    The sums are each part's first and last: columns ``2 part`` and ``2 part + 1`` of ENDS.
    """
    end = tl.arange(0, ENDS)[None, :]
    sums = tl.zeros([pair.shape[0], ENDS], tl.float32)
    zero = columns + row * WIDTH
    for part in tl.static_range(len(LIMITS)):
        limit = LIMITS[part]
        zero += limit
        distance = _distances(p + part * apart, i, j, n)
        is_near = pair & (distance > -limit) & (distance < limit)
        tl.store(zero[:, None] + distance, near.to(columns.dtype.element_ty), mask=is_near)
        first = tl.sum(tl.where(distance <= -limit, far, 0.0), 1)
        last = tl.sum(tl.where(distance >= limit, far, 0.0), 1)
        sums += tl.where(end == 2 * part, first[:, None], 0.0)
        sums += tl.where(end == 2 * part + 1, last[:, None], 0.0)
        zero += limit + 1
    return sums


@triton.jit
def _put_sums(columns, row, inside, sums, LIMITS: tl.constexpr, WIDTH: tl.constexpr, ENDS: tl.constexpr):
    """Write what :func:`_collect` has summed to the first and last column of each part."""
    end = tl.arange(0, ENDS)[None, :]
    column = columns + row * WIDTH
    for part in tl.static_range(len(LIMITS)):
        first = tl.sum(tl.where(end == 2 * part, sums, 0.0), 1)
        last = tl.sum(tl.where(end == 2 * part + 1, sums, 0.0), 1)
        tl.store(column, first.to(columns.dtype.element_ty), mask=inside)
        column += 2 * LIMITS[part]
        tl.store(column, last.to(columns.dtype.element_ty), mask=inside)
        column += 1


@triton.jit
def _is_kept(seed, row, j, threshold):
    """Decide by 24 bits a pair what dropout keeps: Philox gives each row a word, a hash the rest.

    The hash is lowbias32 (C. Wellons), which mixes a counter well at a tenth of Philox' cost.
    """
    word = tl.randint(seed, row).to(tl.uint32, bitcast=True)[:, None]
    word = word ^ (j.to(tl.uint32) * 0x9E3779B9)[None, :]
    word = (word ^ (word >> 16)) * 0x7FEB352D
    word = (word ^ (word >> 15)) * 0x846CA68B
    word = word ^ (word >> 16)
    return (word >> 8).to(tl.int32) >= threshold


@triton.jit
def _scores(
    query, key, scale, bias, row, i, j, pair, p, apart, n,
    LIMITS: tl.constexpr, WIDTH: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Return the scores of a block of queries and one of keys, none where there is no pair."""
    scores = tl.dot(query, tl.trans(key), input_precision=PRECISION) * scale
    scores += _spread(bias, row, i, j, pair, p, apart, n, LIMITS, WIDTH)
    return tl.where(pair, scores, float("-inf"))


@triton.jit(do_not_specialize=["n", "sentences", "seed", "threshold"])
def forward(
    query, key, value, bias, positions, lengths, context, normaliser, sums, near,
    n, sentences, scale, seed, threshold, kept_scale,
    HEADS: tl.constexpr, SIZE: tl.constexpr, KEY_LIMITS: tl.constexpr, KEY_WIDTH: tl.constexpr,
    VALUE_LIMITS: tl.constexpr, VALUE_WIDTH: tl.constexpr, ENDS: tl.constexpr, DROPOUT: tl.constexpr,
    PRECISION: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, BLOCK: tl.constexpr,
    COLUMNS: tl.constexpr,
):  # fmt: skip
    """Attend from one block of queries: writes ``context``, ``sums`` and the scores' log-sum-exp.

    ``near`` is scratch space: scores by distance, in float32, minus infinity where there are none.
    """
    sentence, head = tl.program_id(0) // HEADS, tl.program_id(0) % HEADS
    p, apart = positions + sentence * n, sentences * n
    i = tl.program_id(1) * QUERIES + tl.arange(0, QUERIES)
    inside, row = i < n, (sentence * n + i) * HEADS + head
    length = tl.maximum(tl.load(lengths + sentence).to(tl.int32), 1)
    queries = _load_rows(query, row, inside, SIZE, BLOCK)
    highest = tl.full([QUERIES], float("-inf"), tl.float32)
    total = tl.zeros([QUERIES], tl.float32)
    result = tl.zeros([QUERIES, BLOCK], tl.float32)
    far = tl.zeros([QUERIES, ENDS], tl.float32)
    for start in range(0, length, KEYS):
        j = start + tl.arange(0, KEYS)
        of_key = (sentence * n + j) * HEADS + head
        pair = inside[:, None] & (j < length)[None, :]
        keys = _load_rows(key, of_key, j < length, SIZE, BLOCK)
        values = _load_rows(value, of_key, j < length, SIZE, BLOCK)
        scores = _scores(
            queries, keys, scale, bias, row, i, j, pair, p, apart, n, KEY_LIMITS, KEY_WIDTH, PRECISION
        )
        above = tl.where(inside, tl.maximum(highest, tl.max(scores, 1)), 0.0)
        weights = tl.exp(scores - above[:, None])
        shrunk = tl.exp(highest - above)
        total = total * shrunk + tl.sum(weights, 1)
        if DROPOUT:
            is_kept = _is_kept(seed, row, j, threshold)
            weights = tl.where(is_kept, weights, 0.0)
            scores = tl.where(is_kept, scores, float("-inf"))
        far = far * shrunk[:, None] + _collect(
            near, row, i, j, pair, scores, weights, p, apart, n, VALUE_LIMITS, VALUE_WIDTH, ENDS
        )
        result = result * shrunk[:, None] + tl.dot(
            weights.to(values.dtype), values, input_precision=PRECISION
        )
        highest = above
    total = tl.where(inside, total, 1.0)
    log_total = highest + tl.log(total)
    tl.store(normaliser + row, log_total, mask=inside)
    _store_rows(context, row, inside, result * (kept_scale / total)[:, None], SIZE, BLOCK)
    _put_sums(near, row, inside, highest[:, None] + tl.log(far), VALUE_LIMITS, VALUE_WIDTH, ENDS)
    tl.debug_barrier()  # other threads of this program have written some of what comes next
    for start in range(0, VALUE_WIDTH, COLUMNS):
        column = start + tl.arange(0, COLUMNS)[None, :]
        at, mask = row[:, None] * VALUE_WIDTH + column, inside[:, None] & (column < VALUE_WIDTH)
        by_distance = tl.exp(tl.load(near + at, mask=mask, other=float("-inf")) - log_total[:, None])
        tl.store(sums + at, (by_distance * kept_scale).to(sums.dtype.element_ty), mask=mask)


@triton.jit
def _gradient_of_scores(
    weights, outer, value, row, i, j, pair, offset, columns, p, apart, n, seed, threshold, kept_scale,
    LIMITS: tl.constexpr, WIDTH: tl.constexpr, DROPOUT: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Return the gradient of a block's scores, and its attention after dropout."""
    through = tl.dot(outer, tl.trans(value), input_precision=PRECISION)
    through += _spread(columns, row, i, j, pair, p, apart, n, LIMITS, WIDTH)
    kept = weights
    if DROPOUT:
        factor = tl.where(_is_kept(seed, row, j, threshold), kept_scale, 0.0)
        through, kept = through * factor, weights * factor
    return weights * (through - offset[:, None]), kept


@triton.jit(do_not_specialize=["n", "sentences", "seed", "threshold"])
def backward_of_queries(
    query, key, value, bias, positions, lengths, normaliser, result, result_gradient, sums_gradient,
    query_gradient, bias_gradient, offsets, n, sentences, scale, seed, threshold, kept_scale,
    HEADS: tl.constexpr, SIZE: tl.constexpr, KEY_LIMITS: tl.constexpr, KEY_WIDTH: tl.constexpr,
    VALUE_LIMITS: tl.constexpr, VALUE_WIDTH: tl.constexpr, ENDS: tl.constexpr, DROPOUT: tl.constexpr,
    PRECISION: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Write the gradients of one block of queries and of their bias, which is 0 before.

    ``offsets`` gets ``Σ_j α_ij ∂α_ij``, which is the product of the result with its gradient: of the
    whole result, tables included.
    """
    sentence, head = tl.program_id(0) // HEADS, tl.program_id(0) % HEADS
    p, apart = positions + sentence * n, sentences * n
    i = tl.program_id(1) * QUERIES + tl.arange(0, QUERIES)
    inside, row = i < n, (sentence * n + i) * HEADS + head
    length = tl.maximum(tl.load(lengths + sentence).to(tl.int32), 1)
    queries = _load_rows(query, row, inside, SIZE, BLOCK)
    outer = _load_rows(result_gradient, row, inside, SIZE, BLOCK)
    results = _load_rows(result, row, inside, SIZE, BLOCK)
    offset = tl.sum(outer.to(tl.float32) * results.to(tl.float32), 1)
    tl.store(offsets + row, offset, mask=inside)
    log_total = tl.load(normaliser + row, mask=inside, other=0.0)
    of_queries = tl.zeros([QUERIES, BLOCK], tl.float32)
    far = tl.zeros([QUERIES, ENDS], tl.float32)
    for start in range(0, length, KEYS):
        j = start + tl.arange(0, KEYS)
        of_key = (sentence * n + j) * HEADS + head
        pair = inside[:, None] & (j < length)[None, :]
        keys = _load_rows(key, of_key, j < length, SIZE, BLOCK)
        values = _load_rows(value, of_key, j < length, SIZE, BLOCK)
        scores = _scores(
            queries, keys, scale, bias, row, i, j, pair, p, apart, n, KEY_LIMITS, KEY_WIDTH, PRECISION
        )
        gradient, _ = _gradient_of_scores(
            tl.exp(scores - log_total[:, None]), outer, values, row, i, j, pair, offset, sums_gradient,
            p, apart, n, seed, threshold, kept_scale, VALUE_LIMITS, VALUE_WIDTH, DROPOUT, PRECISION,
        )  # fmt: skip
        far += _collect(
            bias_gradient, row, i, j, pair, gradient, gradient, p, apart, n, KEY_LIMITS, KEY_WIDTH, ENDS
        )
        of_queries += tl.dot(gradient.to(keys.dtype), keys, input_precision=PRECISION)
    _store_rows(query_gradient, row, inside, of_queries * scale, SIZE, BLOCK)
    _put_sums(bias_gradient, row, inside, far, KEY_LIMITS, KEY_WIDTH, ENDS)


@triton.jit(do_not_specialize=["n", "sentences", "seed", "threshold"])
def backward_of_keys(
    query, key, value, bias, positions, lengths, normaliser, result_gradient, sums_gradient, offsets,
    key_gradient, value_gradient, n, sentences, scale, seed, threshold, kept_scale,
    HEADS: tl.constexpr, SIZE: tl.constexpr, KEY_LIMITS: tl.constexpr, KEY_WIDTH: tl.constexpr,
    VALUE_LIMITS: tl.constexpr, VALUE_WIDTH: tl.constexpr, DROPOUT: tl.constexpr, PRECISION: tl.constexpr,
    QUERIES: tl.constexpr, KEYS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Write the gradients of one block of keys and values; 0 for padding."""
    sentence, head = tl.program_id(0) // HEADS, tl.program_id(0) % HEADS
    p, apart = positions + sentence * n, sentences * n
    first = tl.program_id(1) * KEYS
    j = first + tl.arange(0, KEYS)
    length = tl.maximum(tl.load(lengths + sentence).to(tl.int32), 1)
    of_key = (sentence * n + j) * HEADS + head
    keys = _load_rows(key, of_key, j < length, SIZE, BLOCK)
    values = _load_rows(value, of_key, j < length, SIZE, BLOCK)
    of_keys = tl.zeros([KEYS, BLOCK], tl.float32)
    of_values = tl.zeros([KEYS, BLOCK], tl.float32)
    for start in range(0, tl.where(first < length, n, 0), QUERIES):
        i = start + tl.arange(0, QUERIES)
        inside, row = i < n, (sentence * n + i) * HEADS + head
        pair = inside[:, None] & (j < length)[None, :]
        queries = _load_rows(query, row, inside, SIZE, BLOCK)
        outer = _load_rows(result_gradient, row, inside, SIZE, BLOCK)
        log_total = tl.load(normaliser + row, mask=inside, other=0.0)
        offset = tl.load(offsets + row, mask=inside, other=0.0)
        scores = _scores(
            queries, keys, scale, bias, row, i, j, pair, p, apart, n, KEY_LIMITS, KEY_WIDTH, PRECISION
        )
        gradient, kept = _gradient_of_scores(
            tl.exp(scores - log_total[:, None]), outer, values, row, i, j, pair, offset, sums_gradient,
            p, apart, n, seed, threshold, kept_scale, VALUE_LIMITS, VALUE_WIDTH, DROPOUT, PRECISION,
        )  # fmt: skip
        of_keys += tl.dot(tl.trans(gradient).to(queries.dtype), queries, input_precision=PRECISION)
        of_values += tl.dot(tl.trans(kept).to(outer.dtype), outer, input_precision=PRECISION)
    _store_rows(key_gradient, of_key, j < n, of_keys * scale, SIZE, BLOCK)
    _store_rows(value_gradient, of_key, j < n, of_values, SIZE, BLOCK)
