//! What goes wrong with files at rest.

use super::State;

impl State {
    pub(super) fn rot(&mut self) -> Vec<String> {
        let names: Vec<String> = self.names.keys().cloned().collect();
        if names.is_empty() {
            return Vec::new();
        }
        let one = self.rng.pick(&names).clone();
        let other = self.rng.pick(&names).clone();
        let before = [self.bytes_of(&one), self.bytes_of(&other)];
        match self.rng.below(8) {
            0 | 1 => self.edit(&one, |bytes, rng| {
                let bit = rng.below(8 * bytes.len() as u64) as usize;
                bytes[bit / 8] ^= 1 << (bit % 8);
            }),
            2 => self.edit(&one, |bytes, rng| {
                let page = bytes.chunks_mut(4_096);
                let pages = page.len() as u64;
                if let Some(page) = bytes.chunks_mut(4_096).nth(rng.below(pages) as usize) {
                    page.fill(0);
                }
            }),
            3 => self.edit(&one, |bytes, rng| {
                bytes.truncate(rng.below(bytes.len() as u64) as usize);
            }),
            4..7 => {
                let ids = [&one, &other].map(|name| self.names.get(name).copied());
                if let [Some(a), Some(b)] = ids
                    && let [Some(x), Some(y)] = [before[0].clone(), before[1].clone()]
                {
                    self.files.entry(a).and_modify(|file| file.bytes = y);
                    self.files.entry(b).and_modify(|file| file.bytes = x);
                }
            }
            _ if !self.past.is_empty() => {
                let old = self.rng.pick(&self.past).clone();
                self.edit(&one, |bytes, _| *bytes = old);
            }
            _ => {}
        }
        let after = [self.bytes_of(&one), self.bytes_of(&other)];
        let pairs = [one, other].into_iter().zip(before.into_iter().zip(after));
        pairs.filter(|(_, (before, after))| before != after).map(|(name, _)| name).collect()
    }

    fn bytes_of(&self, name: &str) -> Option<Vec<u8>> {
        Some(self.files.get(self.names.get(name)?)?.bytes.clone())
    }

    fn edit(
        &mut self,
        name: &str,
        change: impl FnOnce(&mut Vec<u8>, &mut crate::shared::Splitmix),
    ) {
        let Some(id) = self.names.get(name) else { return };
        if let Some(file) = self.files.get_mut(id).filter(|file| !file.bytes.is_empty()) {
            change(&mut file.bytes, &mut self.rng);
        }
    }
}
