// Arithmetic of which every bit is known, so that drops run as on the CPU. A
// device adds and multiplies to the nearest number, but may fuse and reorder
// what it does, and its quotients and roots may be off in the last places:
// those are put right in whole numbers here. Numbers too small for a full
// mantissa count as zero; drops do not meet them.
#define_import_path bevy_erode::gpu::droplet::exact

#import bevy_erode::gpu::state::exactly

const SIGN: u32 = 0x80000000u;
const MANTISSA: u32 = 0x7FFFFFu;
const LEADING: u32 = 0x800000u;

fn sum(a: f32, b: f32) -> f32 {
    return exactly(a + b);
}

fn less(a: f32, b: f32) -> f32 {
    return exactly(a - b);
}

fn product(a: f32, b: f32) -> f32 {
    return exactly(a * b);
}

// a / b, rounded to nearest.
fn quotient(a: f32, b: f32) -> f32 {
    let x = bitcast<u32>(a);
    let y = bitcast<u32>(b);
    let sign = (x ^ y) & SIGN;
    let exponent_x = (x >> 23u) & 255u;
    if exponent_x == 0u { return bitcast<f32>(sign); }
    let m = (x & MANTISSA) | LEADING;
    let n = (y & MANTISSA) | LEADING;
    // So many more places that 24 are left.
    let below = m < n;
    let shift = select(23u, 24u, below);
    let guess = f32(m) / f32(n) * select(8388608.0, 16777216.0, below);
    var q = u32(guess);
    // What is left is small, so that the lower half of the product tells it.
    var rest = i32((m << shift) - q * n);
    // The guess is off by a few at most, and this by one.
    let off = i32(floor(f32(rest) / f32(n)));
    q += u32(off);
    rest -= off * i32(n);
    if rest < 0 {
        q -= 1u;
        rest += i32(n);
    }
    if rest >= i32(n) {
        q += 1u;
        rest -= i32(n);
    }
    // A quotient never lies in the middle between two numbers.
    q += select(0u, 1u, 2 * rest > i32(n));
    // The leading place of q adds one to it.
    let exponent = i32(exponent_x) - i32((y >> 23u) & 255u) + 126 - select(0, 1, below);
    if exponent < 0 { return bitcast<f32>(sign); }
    return bitcast<f32>(sign | ((u32(exponent) << 23u) + q));
}

// Square root, rounded to nearest.
fn root(value: f32) -> f32 {
    let x = bitcast<u32>(value);
    let exponent = x >> 23u;
    if exponent == 0u { return 0.0; }
    let m = (x & MANTISSA) | LEADING;
    // So many more places that 24 are left and the exponent is even.
    let shift = select(24u, 23u, (exponent & 1u) == 1u);
    var r = u32(sqrt(f32(m) * f32(1u << shift)));
    var rest = i32((m << shift) - r * r);
    let off = i32(floor(f32(rest) / f32(2u * r)));
    rest -= off * (i32(2u * r) + off);
    r += u32(off);
    if rest < 0 {
        r -= 1u;
        rest += i32(2u * r + 1u);
    }
    if rest > i32(2u * r) {
        rest -= i32(2u * r + 1u);
        r += 1u;
    }
    r += select(0u, 1u, rest > i32(r));
    return bitcast<f32>((((150u + exponent - shift) / 2u - 1u) << 23u) + r);
}

// The nearest number to a whole one.
fn number(whole: i32) -> f32 {
    return sum(product(f32(whole >> 16u), 65536.0), f32(whole & 0xFFFF));
}
