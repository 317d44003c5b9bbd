//! Rasters as tables, and back.

use lioprof_model::Symbols;
use lioprof_model::parts::rollup::{Rollup, Spending, SpentInBin, TimeBin, TimeRaster, WhoseTime};

use super::super::entries::key;
use super::raster::{Cell, Raster, Spent};
use super::sums::{AccountSums, Whose};
use crate::parts::BadPart;

impl AccountSums {
    /// Adds the rasters to the rollup of a node.
    pub(crate) fn export(&self, node: &str, symbols: &Symbols, rollup: &mut Rollup) {
        let spending =
            |&(on, target): &super::sums::Spending| Spending { on, mdt: target.mdt(), target: target.target() };
        let spendings: Vec<Spending> = self.spendings.iter().map(spending).collect();
        let bin = |cell: &Cell| TimeBin {
            points: cell.points,
            spent: cell.us.iter().map(|&(spending, us)| SpentInBin { spending, us }).collect(),
        };
        let row = |whose: Option<&Whose>, raster: &Raster| {
            let (whose, name) = match whose {
                None => (WhoseTime::All, None),
                Some(Whose::Client(nid)) => (WhoseTime::Client, Some(symbols.text(*nid))),
                Some(Whose::Job(job)) => (WhoseTime::Job, Some(symbols.text(*job))),
            };
            TimeRaster {
                node: node.to_owned(),
                whose,
                name,
                first_us: raster.first_us,
                last_us: raster.last_us,
                log2_point_us: raster.shift,
                first_bin: raster.first_bin,
                bins: raster.bins.iter().map(bin).collect(),
                spendings: spendings.clone(),
            }
        };
        let all = std::iter::once(&self.all).filter(|all| !all.is_empty()).map(|all| row(None, all));
        let most = self.most_bins_of_one();
        let each = self.each.iter().map(|(whose, under_way)| row(Some(whose), &under_way.raster(most)));
        let mut rows: Vec<TimeRaster> = all.chain(each).collect();
        rows.sort_by(|a, b| (a.whose, &a.name).cmp(&(b.whose, &b.name)));
        rollup.time_rasters.extend(rows);
    }

    /// Adds what was exported of some nodes.
    pub(crate) fn import(&mut self, rollup: &Rollup, symbols: &mut Symbols) -> Result<(), BadPart> {
        for row in &rollup.time_rasters {
            let whose = match (row.whose, &row.name) {
                (WhoseTime::All, _) => None,
                (WhoseTime::Client, Some(nid)) => Some(Whose::Client(symbols.intern(nid.as_bytes()))),
                (WhoseTime::Job, Some(job)) => Some(Whose::Job(symbols.intern(job.as_bytes()))),
                (WhoseTime::Client | WhoseTime::Job, None) => {
                    return Err(BadPart::new("the name of a client or job", ""));
                }
            };
            let mut numbers: Vec<Spent> = Vec::with_capacity(row.spendings.len());
            for Spending { on, mdt, target } in &row.spendings {
                numbers.push(self.number((*on, key(&row.node, target.as_ref(), *mdt, symbols)?)));
            }
            let known = |spending: u32| (spending as usize) < numbers.len();
            if let Some(bad) = row.bins.iter().flat_map(|bin| &bin.spent).find(|spent| !known(spent.spending)) {
                return Err(BadPart::new("the number of something that time was spent on", bad.spending.to_string()));
            }
            let cell = |bin: &TimeBin| Cell {
                points: bin.points,
                us: bin.spent.iter().map(|spent| (spent.spending, spent.us)).collect(),
            };
            let raster = Raster {
                shift: row.log2_point_us,
                first_bin: row.first_bin,
                bins: row.bins.iter().map(cell).collect(),
                first_us: row.first_us,
                last_us: row.last_us,
            };
            if !raster.is_sound() {
                return Err(BadPart::new("bins that cover the span", format!("{} bins", raster.bins.len())));
            }
            match whose {
                None => self.put_all(raster, &numbers),
                Some(whose) => self.put(whose, raster.into(), &numbers),
            }
        }
        Ok(())
    }
}
