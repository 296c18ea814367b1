//! The bytes of a saved state, and what keeps them whole.
//!
//! ```text
//!  8  magic          neither text nor ended by what text transfers change
//!  4  version        of the format, little-endian as all numbers
//!  4  header length
//!  8  body length    unpacked
//!  …  header         RON
//!  …  body           words, an LZ4 frame with a checksum of its content
//!  8  checksum       of everything before
//! ```
//!
//! The body's words are shuffled piece by piece: first the lowest bytes of all
//! words of a piece, then the next, and so on. Heights of neighbors differ in
//! their low bytes only, so the high ones pack well.

use super::SaveError;
use crate::terrain::StateHash;
use core::mem;
use lz4_flex::frame::{BlockSize, FrameDecoder, FrameEncoder, FrameInfo};
use std::io::{self, Read, Write};

pub(super) const MAGIC: [u8; 8] = *b"\x89ERODE\r\n";
pub(super) const VERSION: u32 = 1;
/// Before the header.
const PREFIX: usize = 24;
const CHECKSUM: usize = 8;
/// Longest header. It holds settings, sources and sinks, no planes.
const MAX_HEADER: usize = 16 << 20;
/// LZ4 packs no more into a byte.
const MAX_COMPRESSION_RATIO: u64 = 256;
/// Words shuffled at a time.
const PIECE: usize = 1 << 14;

/// A header and its body, unpacked on the way.
pub(super) struct Opened<'a> {
    pub header: &'a str,
    pub body: BodyReader<'a>,
}

/// Checks a file's bytes from end to end, and opens it.
pub(super) fn open(bytes: &[u8]) -> Result<Opened<'_>, SaveError> {
    let Some(rest) = bytes.strip_prefix(&MAGIC) else {
        return Err(SaveError::NotASave);
    };
    let cut_off = SaveError::Damaged("the file ends too early");
    let Some((version, _)) = rest.split_first_chunk::<4>() else {
        return Err(cut_off);
    };
    let version = u32::from_le_bytes(*version);
    if version > VERSION {
        return Err(SaveError::Version {
            found: version,
            newest: VERSION,
        });
    }
    if version == 0 {
        return Err(SaveError::Damaged("version 0 does not exist"));
    }
    let Some((content, checksum)) = bytes.split_last_chunk::<CHECKSUM>() else {
        return Err(cut_off);
    };
    let mut found = Checksum::default();
    found.add(content);
    if found.finish() != u64::from_le_bytes(*checksum) {
        return Err(SaveError::Damaged("the checksum does not match"));
    }
    let Some((prefix, content)) = content.split_first_chunk::<PREFIX>() else {
        return Err(cut_off);
    };
    let [.., a, b, c, d, e, f, g, h, i, j, k, l] = *prefix;
    let header_length = u32::from_le_bytes([a, b, c, d]) as usize;
    let body_length = u64::from_le_bytes([e, f, g, h, i, j, k, l]);
    if header_length > MAX_HEADER {
        return Err(SaveError::Damaged("the header is too long"));
    }
    let Some((header, body)) = content.split_at_checked(header_length) else {
        return Err(cut_off);
    };
    // Before there is room made for it.
    if body_length > (body.len() as u64).saturating_mul(MAX_COMPRESSION_RATIO) {
        return Err(SaveError::Damaged(
            "the declared length is more than the file can hold",
        ));
    }
    Ok(Opened {
        header: str::from_utf8(header)
            .map_err(|_| SaveError::Damaged("the header is not UTF-8 text"))?,
        body: BodyReader {
            length: body_length,
            left: body_length,
            frame: FrameDecoder::new(body),
            bytes: vec![0; 4 * PIECE],
        },
    })
}

/// Reads words from a body.
pub(super) struct BodyReader<'a> {
    length: u64,
    left: u64,
    frame: FrameDecoder<&'a [u8]>,
    bytes: Vec<u8>,
}

impl BodyReader<'_> {
    /// Bytes of the whole body.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Reads so many words.
    pub fn words<T>(&mut self, count: usize, map: impl Fn(u32) -> T) -> Result<Vec<T>, SaveError> {
        let length = (count as u64).saturating_mul(4);
        self.left = self
            .left
            .checked_sub(length)
            .ok_or(SaveError::Damaged("the body is too short"))?;
        let mut words = Vec::new();
        let room = words.try_reserve_exact(count);
        room.map_err(|_| {
            SaveError::Damaged("the state is too large for the memory of this machine")
        })?;
        let mut remaining = count;
        while remaining > 0 {
            let piece = remaining.min(PIECE);
            let bytes = &mut self.bytes[..4 * piece];
            let read = self.frame.read_exact(bytes);
            read.map_err(|_| SaveError::Damaged("the body cannot be decompressed"))?;
            let (low, high) = bytes.split_at(2 * piece);
            let ((a, b), (c, d)) = (low.split_at(piece), high.split_at(piece));
            let quads = a.iter().zip(b).zip(c.iter().zip(d));
            words.extend(quads.map(|((a, b), (c, d))| map(u32::from_le_bytes([*a, *b, *c, *d]))));
            remaining -= piece;
        }
        Ok(words)
    }

    /// Checks that all is read, and that it is what was written.
    pub fn finish(mut self) -> Result<(), SaveError> {
        // The frame's end tells whether its content was right.
        let end = self.frame.read(&mut [0]);
        let ended = matches!(end, Ok(0)) && self.frame.get_ref().is_empty();
        if ended && self.left == 0 {
            Ok(())
        } else {
            Err(SaveError::Damaged("the body does not match its checksum"))
        }
    }
}

/// Writes a file: a header, and a body of so many bytes.
pub(super) fn write<W: Write>(
    file: W,
    header: &str,
    body_length: u64,
    body: impl FnOnce(&mut BodyWriter<CheckedWriter<W>>) -> io::Result<()>,
) -> Result<(), SaveError> {
    if header.len() > MAX_HEADER {
        return Err(SaveError::Header(format!(
            "it has {} bytes, the limit is {MAX_HEADER}",
            header.len()
        )));
    }
    let mut file = CheckedWriter {
        file,
        checksum: Checksum::default(),
    };
    file.write_all(&MAGIC)?;
    file.write_all(&VERSION.to_le_bytes())?;
    file.write_all(&(header.len() as u32).to_le_bytes())?;
    file.write_all(&body_length.to_le_bytes())?;
    file.write_all(header.as_bytes())?;
    let info = FrameInfo::new()
        .block_size(BlockSize::Max1MB)
        .content_size(Some(body_length))
        .content_checksum(true);
    let mut body_writer = BodyWriter {
        frame: FrameEncoder::with_frame_info(info, file),
        bytes: vec![0; 4 * PIECE],
    };
    body(&mut body_writer)?;
    let CheckedWriter { mut file, checksum } =
        body_writer.frame.finish().map_err(io::Error::from)?;
    file.write_all(&checksum.finish().to_le_bytes())?;
    Ok(file.flush()?)
}

/// Writes words into a body.
pub(super) struct BodyWriter<W: Write> {
    frame: FrameEncoder<W>,
    bytes: Vec<u8>,
}

impl<W: Write> BodyWriter<W> {
    #[inline]
    pub fn words(&mut self, count: usize, word: impl Fn(usize) -> u32) -> io::Result<()> {
        for first in (0..count).step_by(PIECE) {
            let piece = PIECE.min(count - first);
            let bytes = &mut self.bytes[..4 * piece];
            let (low, high) = bytes.split_at_mut(2 * piece);
            let ((a, b), (c, d)) = (low.split_at_mut(piece), high.split_at_mut(piece));
            let quads = a.iter_mut().zip(b).zip(c.iter_mut().zip(d));
            for (index, ((a, b), (c, d))) in (first..).zip(quads) {
                [*a, *b, *c, *d] = word(index).to_le_bytes();
            }
            self.frame.write_all(bytes)?;
        }
        Ok(())
    }
}

/// Adds up what passes through.
pub(super) struct CheckedWriter<W> {
    file: W,
    checksum: Checksum,
}

impl<W: Write> Write for CheckedWriter<W> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.checksum.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The hash of bytes, however they come. Any change within one word is found
/// for certain.
#[derive(Default)]
struct Checksum {
    hash: StateHash,
    /// Bytes that are not yet a word.
    pending: Vec<u8>,
}

impl Checksum {
    #[inline]
    fn add(&mut self, mut bytes: &[u8]) {
        if !self.pending.is_empty() {
            let missing = (4 - self.pending.len()).min(bytes.len());
            self.pending.extend_from_slice(&bytes[..missing]);
            bytes = &bytes[missing..];
            if self.pending.len() < 4 {
                return;
            }
            let pending = mem::take(&mut self.pending);
            self.add_words(&pending);
        }
        let whole = bytes.len() / 4 * 4;
        self.add_words(&bytes[..whole]);
        self.pending.extend_from_slice(&bytes[whole..]);
    }

    #[inline]
    fn add_words(&mut self, bytes: &[u8]) {
        let words = bytes.as_chunks::<4>().0.iter();
        self.hash.words(words.map(|word| u32::from_le_bytes(*word)));
    }

    fn finish(mut self) -> u64 {
        // Their number tells zeros that were there from those that were not.
        let left = self.pending.len() as u32;
        self.pending.resize(4, 0);
        let pending = mem::take(&mut self.pending);
        self.add_words(&pending);
        self.hash.words([left]);
        self.hash.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(parts: &[&[u8]]) -> u64 {
        let mut checksum = Checksum::default();
        for part in parts {
            checksum.add(part);
        }
        checksum.finish()
    }

    #[test]
    fn a_checksum_does_not_depend_on_the_parts() {
        let bytes: Vec<u8> = (0..97).collect();
        let whole = sum(&[&bytes]);
        for size in 1..30 {
            let parts: Vec<&[u8]> = bytes.chunks(size).collect();
            assert_eq!(sum(&parts), whole, "{size}");
        }
    }

    #[test]
    fn a_checksum_finds_every_flipped_bit_and_every_length() {
        let bytes = [0u8; 41];
        let mut seen = vec![sum(&[&bytes])];
        for length in 0..41 {
            seen.push(sum(&[&bytes[..length]]));
        }
        for bit in 0..41 * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            seen.push(sum(&[&flipped]));
        }
        let count = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), count);
    }
}
