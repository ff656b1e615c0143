//! The rate of each kind against its load, as a picture.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use bloomrf_filter::plan::Plan;
use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, SeriesLabelPosition};
use plotters::coord::combinators::IntoLogRange;
use plotters::drawing::IntoDrawingArea;
use plotters::element::PathElement;
use plotters::series::LineSeries;
use plotters::style::{BLACK, Color, IntoFont, RGBColor, WHITE};
use plotters_backend::DrawingBackend;

use super::pixels::Pixels;
use crate::numbers::short_rate;
use crate::outcome::CommandError;

/// A file to draw to.
pub(super) struct Drawing {
    path: PathBuf,
    is_svg: bool,
}

impl Drawing {
    /// By the ending of its name.
    pub(super) fn to(path: &Path) -> Result<Self, CommandError> {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        let is_svg = match ending.as_ref().and_then(|ending| ending.to_str()) {
            Some("svg") => true,
            Some("png") => false,
            _ => {
                let path = path.display();
                return Err(CommandError::misused(format!(
                    "--plot {path}: expected a name that ends in .svg or .png"
                )));
            }
        };
        Ok(Drawing { path: path.to_owned(), is_svg })
    }

    /// Writes the picture.
    pub(super) fn draw(&self, plan: &Plan) -> Result<(), CommandError> {
        let bytes = if self.is_svg { svg(plan) } else { png(plan) };
        let write = |bytes: Vec<u8>| -> std::io::Result<()> {
            let mut file = BufWriter::new(File::create(&self.path)?);
            file.write_all(&bytes)?;
            file.flush()
        };
        let failed = |why: String| {
            CommandError::failed(format!("--plot {}: cannot write it: {why}", self.path.display()))
        };
        write(bytes.map_err(failed)?).map_err(|error| failed(error.to_string()))
    }
}

fn svg(plan: &Plan) -> Result<Vec<u8>, String> {
    let mut text = String::new();
    draw(plan, SVGBackend::with_string(&mut text, (WIDTH, HEIGHT)))?;
    Ok(text.into_bytes())
}

fn png(plan: &Plan) -> Result<Vec<u8>, String> {
    let mut pixels = vec![0; 3 * (WIDTH * HEIGHT) as usize];
    draw(plan, Pixels::new(WIDTH, &mut pixels))?;
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgb);
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels));
    written.map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// A line of each kind that errs: its name, and its rate at shares of 10 % to 200 %.
fn lines(plan: &Plan) -> Vec<(&'static str, Vec<(f64, f64)>)> {
    let loads: Vec<f64> = (2..=40).map(|step| f64::from(step) / 20.0).collect();
    let shapes = plan.rows.iter().filter_map(|row| row.shape.ok());
    let shapes = shapes.filter(|shape| !shape.structure.is_exact());
    let line = |shape: bloomrf_filter::plan::Shape| {
        let rates = shape.fpr_at(&loads).into_iter();
        let points = rates.filter_map(|(load, fpr)| Some((100.0 * load, fpr?.max(LEAST))));
        (shape.structure.name(), points.collect())
    };
    shapes.map(line).collect()
}

fn draw<B: DrawingBackend>(plan: &Plan, backend: B) -> Result<(), String> {
    let lines = lines(plan);
    let rates = lines.iter().flat_map(|(_, points)| points.iter().map(|point| point.1));
    let lowest = rates.fold(0.1, f64::min) / 2.0;
    let area = backend.into_drawing_area();
    let text = |error: plotters::drawing::DrawingAreaErrorKind<B::ErrorType>| error.to_string();
    area.fill(&WHITE).map_err(text)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(
            "false-positive rate against load (100 %: the items it is meant for)",
            ("sans-serif", 15).into_font(),
        )
        .margin(12)
        .margin_right(30)
        .x_label_area_size(30)
        .y_label_area_size(76)
        .build_cartesian_2d(0.0..200.0, (lowest..1.0).log_scale())
        .map_err(text)?;
    chart
        .configure_mesh()
        .x_label_formatter(&|load| format!("{load:.0} %"))
        .y_label_formatter(&|rate| short_rate(*rate))
        .label_style(("sans-serif", 12).into_font())
        .light_line_style(WHITE)
        .draw()
        .map_err(text)?;
    for ((name, points), color) in lines.into_iter().zip(COLORS.into_iter().cycle()) {
        let series = LineSeries::new(points, color.stroke_width(2));
        chart
            .draw_series(series)
            .map_err(text)?
            .label(format!("{name}  "))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .label_font(("sans-serif", 12).into_font())
        .background_style(WHITE)
        .border_style(BLACK)
        .draw()
        .map_err(text)?;
    area.present().map_err(text)
}

const WIDTH: u32 = 900;
const HEIGHT: u32 = 560;
/// Rates below it are drawn as it: the scale is logarithmic, and ends somewhere.
const LEAST: f64 = 1e-15;
/// Told apart by people who see colours differently too.
const COLORS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(110, 110, 110),
    RGBColor(0, 0, 0),
];
