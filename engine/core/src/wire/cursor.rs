//! A bounds-checked cursor: the only way bytes are read and written here.
