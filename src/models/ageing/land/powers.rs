//! Powers and exponentials that are the same on every machine, and vectorise.

/// Base-2 logarithm of a positive, normal number; good to 2e-7 plus rounding.
#[inline]
pub(super) fn log2(x: f32) -> f32 {
    let bits = x.to_bits();
    // The mantissa from √½ to √2, so that the series below stays short.
    let shifted = bits.wrapping_sub(0x3f35_04f3);
    let exponent = (shifted as i32) >> 23;
    let mantissa = f32::from_bits((shifted & 0x007f_ffff) + 0x3f35_04f3);
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let s = t * t;
    // 2/ln 2 · (t + t³/3 + t⁵/5 + …)
    let series = 2.885_39 + s * (0.961_796_7 + s * (0.577_078 + s * (0.412_198_6 + s * 0.320_6)));
    exponent as f32 + t * series
}

/// 2 to the power of a number within ±120.
#[inline]
pub(super) fn exp2(x: f32) -> f32 {
    let x = x.clamp(-120.0, 120.0);
    // Adding and taking away a large number rounds to a whole one without a call.
    let whole = (x + 12_582_912.0) - 12_582_912.0;
    let part = x - whole;
    let series = 1.0
        + part
            * (core::f32::consts::LN_2
                + part
                    * (0.240_226_5
                        + part
                            * (0.055_504_1
                                + part
                                    * (0.009_618_1 + part * (0.001_333_4 + part * 0.000_154_0)))));
    f32::from_bits(((whole as i32 + 127) << 23) as u32) * series
}

/// `x` to the power `m`, for positive `x`.
#[inline]
pub(super) fn power(x: f32, m: f32) -> f32 {
    exp2(m * log2(x))
}

/// e to the power of `x`.
#[inline]
pub(super) fn exp(x: f32) -> f32 {
    exp2(x * core::f32::consts::LOG2_E)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_to_the_exact_ones() {
        for n in 1..20_000 {
            let x = 1.3f32.powi(n % 60) * (1.0 + n as f32 * 1e-4);
            let exact = f64::from(x).powf(0.45);
            assert!(
                (f64::from(power(x, 0.45)) / exact - 1.0).abs() < 2e-6,
                "{x}"
            );
            let y = -(n as f32) * 1e-3;
            assert!(
                (f64::from(exp(y)) / f64::from(y).exp() - 1.0).abs() < 3e-6,
                "{y}"
            );
        }
    }
}
