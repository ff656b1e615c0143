//! A picture in memory that `plotters` draws on: letters of a fixed size, no font of the system.

use std::convert::Infallible;

use embedded_graphics::Drawable;
use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::ascii::FONT_7X13;
use embedded_graphics::pixelcolor::{Rgb888, RgbColor};
use embedded_graphics::prelude::{DrawTarget, OriginDimensions, Pixel, Point, Size};
use embedded_graphics::text::{Alignment, Baseline, Text, TextStyleBuilder};
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontTransform,
};

/// Rows of pixels, three bytes each, white at first.
pub(super) struct Pixels<'a> {
    width: u32,
    bytes: &'a mut [u8],
}

impl<'a> Pixels<'a> {
    /// Over `bytes`, which are three for each pixel of whole rows.
    pub(super) fn new(width: u32, bytes: &'a mut [u8]) -> Self {
        bytes.fill(255);
        Pixels { width, bytes }
    }

    fn height(&self) -> u32 {
        (self.bytes.len() / 3) as u32 / self.width.max(1)
    }

    fn blend(&mut self, x: i32, y: i32, [r, g, b]: [u8; 3], alpha: f64) {
        let (width, height) = (self.width as i32, self.height() as i32);
        if !(0..width).contains(&x) || !(0..height).contains(&y) {
            return;
        }
        let at = 3 * (y as usize * self.width as usize + x as usize);
        for (byte, color) in self.bytes[at..at + 3].iter_mut().zip([r, g, b]) {
            *byte = (f64::from(color) * alpha + f64::from(*byte) * (1.0 - alpha)) as u8;
        }
    }
}

impl OriginDimensions for Pixels<'_> {
    fn size(&self) -> Size {
        Size::new(self.width, self.height())
    }
}

impl DrawTarget for Pixels<'_> {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(
        &mut self,
        pixels: I,
    ) -> Result<(), Infallible> {
        for Pixel(at, color) in pixels {
            self.blend(at.x, at.y, [color.r(), color.g(), color.b()], 1.0);
        }
        Ok(())
    }
}

impl DrawingBackend for Pixels<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.width, self.height())
    }

    fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn present(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn draw_pixel(
        &mut self,
        (x, y): (i32, i32),
        color: BackendColor,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let (r, g, b) = color.rgb;
        self.blend(x, y, [r, g, b], color.alpha);
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): (i32, i32),
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let (r, g, b) = style.color().rgb;
        let letters = MonoTextStyle::new(&FONT_7X13, Rgb888::new(r, g, b));
        let anchor = style.anchor();
        let alignment = match anchor.h_pos {
            HPos::Left => Alignment::Left,
            HPos::Right => Alignment::Right,
            HPos::Center => Alignment::Center,
        };
        let baseline = match anchor.v_pos {
            VPos::Top => Baseline::Top,
            VPos::Center => Baseline::Middle,
            VPos::Bottom => Baseline::Bottom,
        };
        let placing = TextStyleBuilder::new().alignment(alignment).baseline(baseline).build();
        // Letters stand upright: what would be turned is not drawn, and the chart has none.
        if matches!(style.transform(), FontTransform::None) {
            let _: Point = Text::with_text_style(text, Point::new(x, y), letters, placing)
                .draw(self)
                .unwrap_or_default();
        }
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        _style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok((7 * text.chars().count() as u32, 13))
    }
}
