//! Claims about keys and tags.

use super::*;

const KEY: [u8; KEY_BYTES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// From the paper that defines SipHash-2-4, and from its reference code.
#[test]
fn the_tag_is_siphash_2_4() {
    for (length, expected) in [
        (0_u8, 0x726f_db47_dd0e_0e31_u64),
        (1, 0x74f8_39c5_93dc_67fd),
        (8, 0x93f5_f579_9a93_2462),
        (15, 0xa129_ca61_49be_45e5),
    ] {
        let mut hasher = MacKey::new(1, &KEY).keyed;
        let bytes: Vec<u8> = (0..length).collect();
        hasher.write(&bytes);
        assert_eq!(hasher.finish(), expected, "{length} bytes");
    }
}

#[test]
fn how_a_message_is_cut_into_parts_does_not_matter_and_every_bit_does() {
    let key = MacKey::new(1, &KEY);
    let message: Vec<u8> = (0..100).collect();
    let whole = key.tag(Context::None, &[&message]);
    let seal = Seal { key: 1, tag: whole };
    for cut in 0..=message.len() {
        let (head, rest) = message.split_at(cut);
        assert_eq!(key.check(seal, Context::None, &[head, rest]), Ok(()));
    }
    for bit in 0..message.len() * 8 {
        let mut flipped = message.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(key.check(seal, Context::None, &[&flipped]), Err(MacError::Tag));
    }
    for bit in 0..64 {
        let seal = Seal { key: 1, tag: Tag(whole.0 ^ 1 << bit) };
        assert_eq!(key.check(seal, Context::None, &[&message]), Err(MacError::Tag));
    }
    let context = Context::Answer(Seal { key: 1, tag: Tag(1) });
    assert_eq!(key.check(seal, context, &[&message]), Err(MacError::Tag));
    let other = MacKey::new(1, &[9; KEY_BYTES]);
    assert_eq!(other.check(seal, Context::None, &[&message]), Err(MacError::Tag));
    let other = MacKey::new(2, &KEY);
    assert_eq!(other.check(seal, Context::None, &[&message]), Err(MacError::UnknownKey));
}

#[test]
fn a_seal_is_split_off_where_there_is_one() {
    let key = MacKey::new(0xa1b2_c3d4, &KEY);
    let mut out = b"message".to_vec();
    let sealed = seal(&mut Writer::new(&mut out), &key, Context::None);
    assert_eq!(out.len(), 7 + SEAL_BYTES);
    // The writer began behind "message": only the id is covered.
    let (covered, found) = split(&out[7..]).unwrap();
    assert_eq!(covered, 0xa1b2_c3d4_u32.to_le_bytes());
    assert_eq!((found.key, found.tag.0), (sealed.key, sealed.tag.0));
    for short in 0..SEAL_BYTES {
        assert_eq!(split(&out[..short]).unwrap_err(), Short);
    }
}

#[test]
fn a_key_file_is_read_line_by_line_and_the_first_key_seals() {
    let text = "# keys of the lookup\n\n7 000102030405060708090a0b0c0d0e0f # since May\n\
                0\t0F0E0D0C0B0A09080706050403020100\n";
    let ring = KeyRing::parse(text).unwrap();
    assert_eq!(ring.ids().collect::<Vec<_>>(), [7, 0]);
    assert_eq!(ring.signer().id(), 7);
    let tag = ring.find(7).unwrap().tag(Context::None, &[b"x"]);
    assert_eq!(tag.0, MacKey::new(7, &KEY).tag(Context::None, &[b"x"]).0);
    assert_eq!(ring.find(8).unwrap_err(), MacError::UnknownKey);
}

#[test]
fn what_is_no_list_of_keys_is_refused_with_its_line_and_never_repeated() {
    let digits = "00112233445566778899aabbccddeeff";
    for (text, expected) in [
        (String::new(), KeyRingError::Empty),
        ("# 1 key\n".to_owned(), KeyRingError::Empty),
        (digits.to_owned(), KeyRingError::Line { line: 1 }),
        (format!("1 {digits}\nx {digits}"), KeyRingError::Line { line: 2 }),
        (format!("-1 {digits}"), KeyRingError::Line { line: 1 }),
        (format!("+1 {digits}"), KeyRingError::Line { line: 1 }),
        (format!("4294967296 {digits}"), KeyRingError::Line { line: 1 }),
        (format!("1 {digits}0"), KeyRingError::Line { line: 1 }),
        (format!("1 {}", &digits[1..]), KeyRingError::Line { line: 1 }),
        (format!("1 +{}", &digits[1..]), KeyRingError::Line { line: 1 }),
        (format!("1 {}", digits.replace('a', "ä")), KeyRingError::Line { line: 1 }),
        (format!("1 {}", "0".repeat(32)), KeyRingError::Zeros { line: 1 }),
        (format!("1 {digits}\n\n1 {digits}"), KeyRingError::Twice { line: 3, id: 1 }),
    ] {
        let error = KeyRing::parse(&text).unwrap_err();
        assert_eq!(error, expected, "{text:?}");
        assert!(!error.to_string().contains(&digits[1..]), "{error}");
    }
    assert!(KeyRing::parse(&format!("4294967295 {digits}")).is_ok());
}

#[test]
fn as_many_keys_as_allowed_are_read_and_one_more_is_not() {
    let text = |n: usize| (0..n).map(|id| format!("{id} {:032x}\n", id + 1)).collect::<String>();
    assert_eq!(KeyRing::parse(&text(MAC_KEYS_MAX)).unwrap().ids().count(), MAC_KEYS_MAX);
    assert_eq!(KeyRing::parse(&text(MAC_KEYS_MAX + 1)).unwrap_err(), KeyRingError::TooMany);
}

#[test]
fn no_key_is_ever_shown() {
    let ring = KeyRing::parse("3 000102030405060708090a0b0c0d0e0f").unwrap();
    assert_eq!(format!("{:?}", ring.signer()), "MacKey { id: 3, .. }");
    assert_eq!(format!("{ring:?}"), "KeyRing { keys: [MacKey { id: 3, .. }] }");
}

#[test]
fn a_book_hands_out_the_keys_of_the_moment() {
    let book = KeyBook::new(KeyRing::of(MacKey::new(1, &KEY)));
    let before = book.load();
    book.replace(KeyRing::of(MacKey::new(2, &KEY)));
    assert_eq!((before.signer().id(), book.load().signer().id()), (1, 2));
    assert!(!format!("{book:?}").contains("keyed"));
}
