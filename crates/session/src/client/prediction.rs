//! The terminal that predictions depend on, the prompts that outlast a session, and the reasons for predictions.

use rove_predict::{Explanation, PromptMemory};
use rove_terminal::Tty;
use rove_units::Instant;

use super::Client;

impl Client {
    /// Returns the terminal that the host's programs run on, as it was when the newest screen was taken
    /// or later; `None` where the server does not tell.
    pub fn tty(&self) -> Option<Tty> {
        self.transport.remote().parts().tty
    }

    /// Returns whether predictions have a use for [`Client::handle_prompt_memory`].
    pub const fn uses_prompt_memory(&self) -> bool {
        self.display.engine.uses_prompt_memory()
    }

    /// Loads the prompts that earlier sessions with this host knew. Call it once, before the first key.
    pub fn handle_prompt_memory(&mut self, memory: PromptMemory) {
        self.display.engine.handle_prompt_memory(memory);
    }

    /// Returns the prompts that this session and earlier ones knew; `None` where predictions have no use for them or
    /// the client was handed no memory.
    pub fn prompt_memory(&self) -> Option<&PromptMemory> {
        self.display.engine.prompt_memory()
    }

    /// Returns why the newest key is shown before its answer or not, for developers of predictions. `None` means that
    /// no key is on its way or no reason is known.
    pub fn explain_prediction(&self, now: Instant) -> Option<Explanation> {
        self.display.engine.explain(now)
    }
}
