"""Loops over rows for the numba engine, on whole vectors of the processor.

LLVM does not turn these loops into vector instructions by itself, since the rows of a
table are found through codes. So there is a type here for a vector of numbers, with the
few operations that the loops need, and the loops are written in it.

A table, a histogram and a tile of scores are flat arrays whose rows have as many
numbers as a vector has lanes: a power of two, at least `STEP`. The number of lanes is
part of the type of `lanes`, a tuple of lanes // STEP numbers that mean nothing.
"""

import math

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic, models, register_model

__all__ = ["STEP", "add", "fill", "load", "number", "store", "visit"]

STEP = 8
TILE_ROWS = 2048  # whose scores stay in the cache
FLUSH_TILES = 8  # after so many tiles float32 sums go to float64
BLOCK_ROWS = 32  # whose sums may be multiplied without overflow
LOWEST_LOG = -80.0  # exp of less is 0; so no number is too small to be normal

HALF_LOG_2 = math.log(2) / 2
POWERS = np.polynomial.Chebyshev.interpolate(
    np.exp, 6, domain=[-HALF_LOG_2, HALF_LOG_2]
).convert(kind=np.polynomial.Polynomial)
# Adding it rounds a small number to an integer, which is then in the lowest bits.
ROUNDER = 1.5 * 2.0**23
LOG_2_HEAD = 0.693359375  # few digits, so that its multiples are exact
LOG_2_TAIL = math.log(2) - LOG_2_HEAD


class Vector(types.Type):
    """The type of a vector: of which numbers, and how many."""

    def __init__(self, dtype, lanes):
        super().__init__(name=f"Vector({dtype}, {lanes})")
        self.dtype = dtype
        self.lanes = lanes


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        super().__init__(manager, vector, _llvm_type(vector))


def _llvm_type(vector):
    single = vector.dtype == types.float32
    return ir.VectorType(ir.FloatType() if single else ir.DoubleType(), vector.lanes)


def _pointer(context, builder, array, data, at):
    start = context.make_array(array)(context, builder, data).data
    return builder.gep(start, [at])


def _shuffle(builder, vector, lanes):
    nothing = ir.Constant(vector.type, ir.Undefined)
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), list(lanes))
    return builder.shuffle_vector(vector, nothing, mask)


@intrinsic
def number(typing, array, at):
    def generate(context, builder, signature, arguments):
        found = builder.load(_pointer(context, builder, array, *arguments))
        return context.cast(builder, found, array.dtype, types.intp)

    return types.intp(array, types.intp), generate


@intrinsic
def load(typing, array, at, lanes):
    vector = Vector(array.dtype, STEP * lanes.count)

    def generate(context, builder, signature, arguments):
        place = _pointer(context, builder, array, *arguments[:2])
        place = builder.bitcast(place, _llvm_type(vector).as_pointer())
        found = builder.load(place)
        found.align = array.dtype.bitwidth // 8
        return found

    return vector(array, types.intp, lanes), generate


@intrinsic
def store(typing, array, at, vector):
    def generate(context, builder, signature, arguments):
        place = _pointer(context, builder, array, *arguments[:2])
        place = builder.bitcast(place, _llvm_type(vector).as_pointer())
        builder.store(arguments[2], place).align = array.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.none(array, types.intp, vector), generate


@intrinsic
def fill(typing, number, lanes):
    """The same number in all lanes."""
    vector = Vector(number, STEP * lanes.count)

    def generate(context, builder, signature, arguments):
        nothing = ir.Constant(_llvm_type(vector), ir.Undefined)
        first = ir.Constant(ir.IntType(32), 0)
        one = builder.insert_element(nothing, arguments[0], first)
        return _shuffle(builder, one, [0] * vector.lanes)

    return vector(number, lanes), generate


def _operation(combine):
    @intrinsic
    def operate(typing, left, right):
        def generate(context, builder, signature, arguments):
            return combine(builder, *arguments)

        return left(left, right), generate

    return operate


def _fold(combine):  # halves of a vector are combined until a number is left
    @intrinsic
    def fold(typing, vector):
        def generate(context, builder, signature, arguments):
            work, half = arguments[0], vector.lanes // 2
            while half:
                low = _shuffle(builder, work, range(half))
                high = _shuffle(builder, work, range(half, 2 * half))
                work, half = combine(builder, low, high), half // 2
            return builder.extract_element(work, ir.Constant(ir.IntType(32), 0))

        return vector.dtype(vector), generate

    return fold


def _larger(builder, left, right):
    return builder.select(builder.fcmp_ordered(">", left, right), left, right)


add = _operation(ir.IRBuilder.fadd)
_subtract = _operation(ir.IRBuilder.fsub)
_multiply = _operation(ir.IRBuilder.fmul)
_total = _fold(ir.IRBuilder.fadd)
_largest = _fold(_larger)


def _conversion(dtype, convert):
    @intrinsic
    def converted(typing, vector):
        other = Vector(dtype, vector.lanes)

        def generate(context, builder, signature, arguments):
            return convert(builder, arguments[0], _llvm_type(other))

        return other(vector), generate

    return converted


_widen = _conversion(types.float64, ir.IRBuilder.fpext)
_narrow = _conversion(types.float32, ir.IRBuilder.fptrunc)


@intrinsic
def _exp(typing, vector):
    """exp of numbers up to 0 in float32; 0 below LOWEST_LOG.

    exp(x) = 2**n exp(r) with n the integer nearest to x / log 2. The polynomial for
    exp(r) is off by 2e-9, so what counts is rounding.
    """

    def generate(context, builder, signature, arguments):
        kind = _llvm_type(vector)
        whole = ir.VectorType(ir.IntType(32), vector.lanes)
        shape = ir.FunctionType(kind, [kind] * 3)
        name = f"llvm.fmuladd.v{vector.lanes}f32"
        fused = builder.module.declare_intrinsic(name, (), shape)

        def constant(number):
            return ir.Constant(kind, [float(np.float32(number))] * vector.lanes)

        def multiply_add(*factors_and_term):
            return builder.call(fused, factors_and_term)

        x = arguments[0]
        shifted = multiply_add(x, constant(1 / math.log(2)), constant(ROUNDER))
        n = builder.fsub(shifted, constant(ROUNDER))
        rest = multiply_add(n, constant(-LOG_2_HEAD), x)
        rest = multiply_add(n, constant(-LOG_2_TAIL), rest)
        found = constant(POWERS.coef[-1])
        for power in POWERS.coef[-2::-1]:
            found = multiply_add(found, rest, constant(power))
        # n is added to the exponent, which begins at bit 23.
        exponent = ir.Constant(whole, [23] * vector.lanes)
        exponent = builder.shl(builder.bitcast(shifted, whole), exponent)
        found = builder.add(builder.bitcast(found, whole), exponent)
        is_seen = builder.fcmp_ordered(">", x, constant(LOWEST_LOG))
        return builder.select(is_seen, builder.bitcast(found, kind), constant(0.0))

    return vector(vector), generate


@njit(nogil=True)
def _score(cells, classes, start, n_rows, table, offset, lanes, scores):
    """scores[row] = offset + the rows of `table` that its class and codes name.

    Two rows at a time, so that one need not wait for the other's additions.
    """
    codes, stride, features, starts = cells
    width = STEP * len(lanes)
    base = load(offset, 0, lanes)
    for row in range(0, n_rows, 2):
        # Of an odd number of rows the last is scored twice.
        step = min(row + 1, n_rows - 1) - row
        left = right = base
        if len(classes):
            at = starts[-1] + number(classes, start + row)
            left = add(left, load(table, at * width, lanes))
            at = starts[-1] + number(classes, start + row + step)
            right = add(right, load(table, at * width, lanes))
        begin = (start + row) * stride
        for d in range(len(features)):
            cell = begin + number(features, d)
            at = number(starts, d) + number(codes, cell)
            left = add(left, load(table, at * width, lanes))
            at = number(starts, d) + number(codes, cell + step * stride)
            right = add(right, load(table, at * width, lanes))
        store(scores, row * width, left)
        store(scores, (row + step) * width, right)


@njit(nogil=True)
def _gather(cells, classes, start, n_rows, mass, lanes, bins):
    """Add each row of `mass` to the rows of `bins` that its class and codes name."""
    codes, stride, features, starts = cells
    width = STEP * len(lanes)
    for row in range(0, n_rows, 2):
        # Of an odd number of rows the last is followed by one without mass.
        step = min(row + 1, n_rows - 1) - row
        left = load(mass, row * width, lanes)
        right = load(mass, (row + 1) * width, lanes)
        if len(classes):
            at = (starts[-1] + number(classes, start + row)) * width
            store(bins, at, add(load(bins, at, lanes), left))
            at = (starts[-1] + number(classes, start + row + step)) * width
            store(bins, at, add(load(bins, at, lanes), right))
        begin = (start + row) * stride
        for d in range(len(features)):
            cell = begin + number(features, d)
            at = (number(starts, d) + number(codes, cell)) * width
            store(bins, at, add(load(bins, at, lanes), left))
            at = (number(starts, d) + number(codes, cell + step * stride)) * width
            store(bins, at, add(load(bins, at, lanes), right))


@njit(nogil=True)
def _add_residuals(numbers, start, n_rows, mean, half_precision, lanes, scores):
    """Add the log-density of the target, without its constant, to the scores."""
    width = STEP * len(lanes)
    middle = load(mean, 0, lanes)
    factor = load(half_precision, 0, lanes)
    for row in range(n_rows):
        # A difference of near numbers; the rest can do with float32.
        rest = _narrow(_subtract(fill(numbers[start + row], lanes), middle))
        values = load(scores, row * width, lanes)
        values = _subtract(values, _multiply(_multiply(rest, rest), factor))
        store(scores, row * width, values)


@njit(nogil=True)
def _share_out(weight, start, n_rows, lanes, scores, sums):
    """Turn scores into responsibilities times weight; returns the evidence.

    `sums` gets their sum over rows. Without weights the logarithm is taken of the
    product of several rows, which is faster.
    """
    width = STEP * len(lanes)
    evidence = 0.0
    for first in range(0, n_rows, BLOCK_ROWS):
        block = fill(np.float32(0), lanes)
        product = 1.0
        for row in range(first, min(first + BLOCK_ROWS, n_rows)):
            values = load(scores, row * width, lanes)
            top = _largest(values)
            values = _exp(_subtract(values, fill(top, lanes)))
            norm = _total(values)
            factor = np.float32(1) / norm
            if len(weight):
                own = weight[start + row]
                factor *= np.float32(own)
                evidence += own * (top + math.log(norm))
            else:
                evidence += top
                product *= norm
            values = _multiply(values, fill(factor, lanes))
            block = add(block, values)
            store(scores, row * width, values)
        evidence += math.log(product)
        store(sums, 0, add(load(sums, 0, lanes), _widen(block)))
    return evidence


@njit(nogil=True)
def _add_moments(numbers, start, n_rows, mass, lanes, sums):
    """Sums of `mass`, and of `mass` times the target and its square.

    All in float64: a variance is what is left of their difference.
    """
    width = STEP * len(lanes)
    zeroth = load(sums, width, lanes)
    first = load(sums, 2 * width, lanes)
    second = load(sums, 3 * width, lanes)
    for row in range(n_rows):
        own = _widen(load(mass, row * width, lanes))
        number = fill(numbers[start + row], lanes)
        zeroth = add(zeroth, own)
        own = _multiply(own, number)
        first = add(first, own)
        second = add(second, _multiply(own, number))
    store(sums, width, zeroth)
    store(sums, 2 * width, first)
    store(sums, 3 * width, second)


@njit(nogil=True)
def _flush(bins, lanes, total):
    """Move float32 sums to float64."""
    zero = fill(np.float32(0), lanes)
    for at in range(0, len(bins), STEP * len(lanes)):
        own = _widen(load(bins, at, lanes))
        store(total, at, add(load(total, at, lanes), own))
        store(bins, at, zero)


def _kept(function):
    """Compiled, and kept on disk if there is a folder for it."""
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:
        return njit(nogil=True)(function)


@_kept
def visit(cells, target, weight, parameters, lanes, work, flat_sums):
    """The expectation step of one restart for all rows.

    Parameters
    ----------
    cells : tuple
        codes, unsigned int array, flat; their number in a row; the columns to use,
        intp array; for each of these the row of `table` where it begins, and last the
        row where the classes begin, intp array.
    target : tuple
        Class numbers, int array, and numbers, float64 array; one of them is empty.
    weight : float64 array
        Empty where all rows count 1.
    parameters : tuple
        table, float32, flat; offset, float32; mean, float64; half the precision,
        float32; all with `lanes` numbers in a row.
    lanes : tuple of int
        See the top of this module.
    work : tuple
        Scores, float32, for TILE_ROWS + 1 rows; zeros, float32, for the sums by row
        of `table`, or nothing to leave them out.
    flat_sums : tuple
        Four rows of sums: of responsibilities, and for numbers once more and with
        the target and its square; the sums by row of `table`. float64, flat, zeros.

    Returns the evidence.
    """
    classes, numbers = target
    table, offset, mean, half_precision = parameters
    scores, bins = work
    sums, total = flat_sums
    n_all = max(len(classes), len(numbers))
    width = STEP * len(lanes)
    evidence = 0.0
    for tile in range(-(-n_all // TILE_ROWS)):
        start = tile * TILE_ROWS
        n_rows = min(TILE_ROWS, n_all - start)
        _score(cells, classes, start, n_rows, table, offset, lanes, scores)
        if len(numbers):
            _add_residuals(numbers, start, n_rows, mean, half_precision, lanes, scores)
        evidence += _share_out(weight, start, n_rows, lanes, scores, sums)
        if len(numbers):
            _add_moments(numbers, start, n_rows, scores, lanes, sums)
        if len(bins):
            store(scores, n_rows * width, fill(np.float32(0), lanes))
            _gather(cells, classes, start, n_rows, scores, lanes, bins)
            if tile % FLUSH_TILES == FLUSH_TILES - 1:
                _flush(bins, lanes, total)
    _flush(bins, lanes, total)
    return evidence
