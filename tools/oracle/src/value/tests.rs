use super::*;

fn field(kind: FieldType, offset: usize, width: usize, big_endian: bool) -> Field {
    Field { name: "f".to_owned(), offset, width, kind, big_endian, null_bit: None }
}

#[test]
fn numbers_are_read_in_their_byte_order_and_sign() {
    let record = [0x01, 0x02, 0xff, 0xfe, 0, 0, 0, 0x80];
    let read = |kind, offset, width, big| decode(&field(kind, offset, width, big), &record);
    assert_eq!(read(FieldType::Unsigned, 0, 2, false), Value::Int(0x0201));
    assert_eq!(read(FieldType::Unsigned, 0, 2, true), Value::Int(0x0102));
    assert_eq!(read(FieldType::Signed, 2, 2, false), Value::Int(-257));
    assert_eq!(read(FieldType::Signed, 2, 2, true), Value::Int(-2));
    assert_eq!(read(FieldType::Signed, 2, 1, false), Value::Int(-1));
    assert_eq!(read(FieldType::Unsigned, 0, 8, false), Value::Int(0x8000_0000_feff_0201));
    assert_eq!(
        read(FieldType::Time(Unit::S), 0, 8, true),
        Value::Time(0x0102_fffe_0000_0080, Unit::S)
    );
}

#[test]
fn floats_are_widened_exactly_and_keep_zero_and_nan() {
    let read = |bytes: &[u8], big| decode(&field(FieldType::Float, 0, bytes.len(), big), bytes);
    assert_eq!(read(&0.1f32.to_le_bytes(), false), Value::Float(f64::from(0.1f32)));
    assert_eq!(read(&(-2.5f64).to_be_bytes(), true), Value::Float(-2.5));
    assert!(matches!(read(&(-0.0f32).to_le_bytes(), false), Value::Float(z) if z == 0.0));
    assert!(matches!(read(&f64::NAN.to_le_bytes(), false), Value::Float(n) if n.is_nan()));
}

#[test]
fn a_set_null_bit_is_null_and_others_do_not_matter() {
    let mut nullable = field(FieldType::Unsigned, 2, 1, false);
    nullable.null_bit = Some(9);
    assert_eq!(decode_row(&[nullable.clone()], &[0, 0b10, 7]), vec![Value::Null]);
    assert_eq!(decode_row(&[nullable], &[0xff, 0b01, 7]), vec![Value::Int(7)]);
}

#[test]
fn bool_text_and_addresses_are_read_as_they_lie() {
    let record = [2, b'a', 0, 10];
    assert_eq!(decode(&field(FieldType::Bool, 0, 1, false), &record), Value::Bool(true));
    assert_eq!(decode(&field(FieldType::Bool, 2, 1, false), &record), Value::Bool(false));
    let text = decode(&field(FieldType::Text, 1, 2, false), &record);
    assert_eq!(text, Value::Text(b"a\0".to_vec()));
    let address = decode(&field(FieldType::Ipv4, 0, 4, false), &record);
    assert_eq!(address, Value::Octets(FieldType::Ipv4, record.to_vec()));
}
