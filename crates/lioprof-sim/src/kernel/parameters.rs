//! Module parameters of libcfs that are plain numbers or texts.

use rustix::io::Errno;

use super::guard::lock;
use super::module_parameters::Parameter;
use super::node::Kernel;

impl Kernel {
    /// A module parameter as it reads, without line break.
    #[must_use]
    pub fn parameter(&self, parameter: Parameter) -> String {
        let mut parameters = lock(&self.parameters);
        if let Some(number) = parameters.number(parameter) {
            return number.to_string();
        }
        match parameter {
            Parameter::RawPointers => if parameters.raw_pointers { "Y" } else { "N" }.to_owned(),
            _ => parameters.debug_path.clone(),
        }
    }

    /// Sets a module parameter.
    ///
    /// # Errors
    /// `EINVAL` if the text is not of the parameter's type.
    pub fn set_parameter(&self, parameter: Parameter, text: &[u8]) -> Result<(), Errno> {
        let text = std::str::from_utf8(text).map_err(|_| Errno::INVAL)?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        let mut parameters = lock(&self.parameters);
        if let Some(number) = parameters.number(parameter) {
            let value: u32 = text.parse().map_err(|_| Errno::INVAL)?;
            if parameter == Parameter::ConsoleBackoff && value == 0 {
                return Err(Errno::INVAL);
            }
            *number = value;
            return Ok(());
        }
        if parameter == Parameter::RawPointers {
            parameters.raw_pointers = match text {
                "1" | "y" | "Y" | "on" => true,
                "0" | "n" | "N" | "off" => false,
                _ => return Err(Errno::INVAL),
            };
        } else {
            text.clone_into(&mut parameters.debug_path);
        }
        Ok(())
    }
}
