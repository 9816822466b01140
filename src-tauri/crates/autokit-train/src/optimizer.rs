//! AdamW (Loshchilov & Hutter, 2019) whose state can be saved.

use anyhow::{Context as _, Result};
use candle_core::backprop::GradStore;
use candle_core::{Tensor, Var};

/// Settings of the optimizer.
#[derive(Debug, Clone, Copy)]
pub struct AdamWOptions {
    /// Decay of the mean of gradients.
    pub beta1: f64,
    /// Decay of the mean of squared gradients.
    pub beta2: f64,
    /// Added to the root of the mean square.
    pub epsilon: f64,
    /// Share of a weight that goes with each step, times the learning rate.
    pub weight_decay: f64,
    /// Largest norm of all gradients together; larger ones are scaled down.
    pub max_norm: f64,
}

impl Default for AdamWOptions {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01, max_norm: 1.0 }
    }
}

/// A trained variable with its moments.
pub struct Slot {
    /// A name that is stable between runs.
    pub name: String,
    /// The variable.
    pub variable: Var,
    /// Mean of gradients.
    pub mean: Tensor,
    /// Mean of squared gradients.
    pub square: Tensor,
}

/// The optimizer and its state.
pub struct AdamW {
    options: AdamWOptions,
    slots: Vec<Slot>,
    /// Steps taken.
    steps: usize,
}

impl AdamW {
    /// Creates the optimizer of these variables.
    ///
    /// # Errors
    /// When the device has no memory for it.
    pub fn new(variables: Vec<(String, Var)>, options: AdamWOptions) -> candle_core::Result<Self> {
        let slots = variables
            .into_iter()
            .map(|(name, variable)| {
                let zeros = variable.as_tensor().zeros_like()?;
                Ok(Slot { name, variable, mean: zeros.clone(), square: zeros })
            })
            .collect::<candle_core::Result<Vec<_>>>()?;
        Ok(Self { options, slots, steps: 0 })
    }

    /// Returns the variables with their moments.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Returns the number of steps taken.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Continues from saved moments and steps; `load` returns a saved tensor by name.
    ///
    /// # Errors
    /// When a tensor is missing or has another shape.
    pub fn restore(&mut self, steps: usize, load: impl Fn(&str) -> Result<Tensor>) -> Result<()> {
        for slot in &mut self.slots {
            let saved = |kind: &str| -> Result<Tensor> {
                let tensor = load(&format!("{kind}.{}", slot.name))?;
                anyhow::ensure!(tensor.shape() == slot.variable.shape(), "{} has another shape", slot.name);
                Ok(tensor)
            };
            slot.variable.set(&saved("variable")?)?;
            (slot.mean, slot.square) = (saved("mean")?, saved("square")?);
        }
        self.steps = steps;
        Ok(())
    }

    /// Takes a step and returns the norm of the gradients before they were scaled.
    ///
    /// # Errors
    /// When a variable has no gradient: it does not take part in the loss.
    pub fn step(&mut self, gradients: &GradStore, learning_rate: f64) -> Result<f64> {
        let AdamWOptions { beta1, beta2, epsilon, weight_decay, max_norm } = self.options;
        let mut norm = 0.0;
        for slot in &self.slots {
            let gradient =
                gradients.get(&slot.variable).with_context(|| format!("{} has no gradient", slot.name))?;
            norm += f64::from(gradient.sqr()?.sum_all()?.to_scalar::<f32>()?);
        }
        let norm = norm.sqrt();
        let scale = if norm > max_norm { max_norm / norm } else { 1.0 };
        self.steps += 1;
        let steps = i32::try_from(self.steps).context("too many steps")?;
        let (mean_correction, square_correction) = (1.0 - beta1.powi(steps), 1.0 - beta2.powi(steps));
        for slot in &mut self.slots {
            let gradient =
                gradients.get(&slot.variable).with_context(|| format!("{} has no gradient", slot.name))?;
            let gradient = gradient.affine(scale, 0.0)?;
            slot.mean = (slot.mean.affine(beta1, 0.0)? + gradient.affine(1.0 - beta1, 0.0)?)?.detach();
            slot.square =
                (slot.square.affine(beta2, 0.0)? + gradient.sqr()?.affine(1.0 - beta2, 0.0)?)?.detach();
            let root = slot.square.affine(1.0 / square_correction, 0.0)?.sqrt()?;
            let change =
                slot.mean.affine(learning_rate / mean_correction, 0.0)?.div(&root.affine(1.0, epsilon)?)?;
            let kept = slot.variable.as_tensor().affine(1.0 - learning_rate * weight_decay, 0.0)?;
            slot.variable.set(&(kept - change)?.detach())?;
        }
        Ok(norm)
    }
}
