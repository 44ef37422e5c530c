//! What each real CLI needs to talk to a stand-in and to nobody else: its settings in the sandbox's home, and
//! the variables of its environment. Claude Code needs no settings: see [`crate::claude_env`].

use crate::{GeminiServer, ModelServer, OpenAiServer, Sandbox};
use serde_json::json;
use std::fs;

/// Settings for `codex exec`. API errors are shown at once instead of being tried again.
pub fn codex_setup(sandbox: &Sandbox, server: &OpenAiServer) -> Vec<(String, String)> {
    let config = format!(
        r#"model = "gpt-5-codex"
model_provider = "stub"
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
apps = false
plugins = false
remote_plugin = false
plugin_discovery_prefetch = false

[model_providers.stub]
name = "stub"
base_url = "{}/v1"
wire_api = "responses"
env_key = "STUB_KEY"
stream_max_retries = 0
request_max_retries = 0
"#,
        server.url()
    );
    write(sandbox, ".codex/config.toml", &config);
    variables(server, &[("STUB_KEY", "x")])
}

/// Settings for `opencode run`. The model has prices, so that costs show.
pub fn opencode_setup(sandbox: &Sandbox, server: &OpenAiServer) -> Vec<(String, String)> {
    let model = json!({
        "name": "Model",
        "tool_call": true,
        "limit": {"context": 200_000, "output": 8_000},
        "cost": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75},
    });
    let config = json!({
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": false,
        "share": "disabled",
        "model": "stub/model",
        "small_model": "stub/model",
        "provider": {"stub": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Stub",
            "options": {"baseURL": format!("{}/v1", server.url()), "apiKey": "x"},
            "models": {"model": model},
        }},
    });
    write(sandbox, ".config/opencode/opencode.json", &config.to_string());
    // Without a lock that names its plugin package it installs that at every start.
    let lock = json!({"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}});
    write(sandbox, ".config/opencode/package-lock.json", &lock.to_string());
    write(sandbox, ".config/opencode/node_modules/.package-lock.json", "{}");
    variables(
        server,
        &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ],
    )
}

/// Settings for `gemini`, which also wants `--skip-trust` and a fixed model (`-m`): without one it first asks a
/// router for JSON. API errors are shown at once instead of being tried again.
pub fn gemini_setup(sandbox: &Sandbox, server: &GeminiServer) -> Vec<(String, String)> {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 1},
    });
    write(sandbox, ".gemini/settings.json", &settings.to_string());
    let url = server.url();
    variables(server, &[("GOOGLE_GEMINI_BASE_URL", &url), ("GEMINI_API_KEY", "x")])
}

/// With the server as the proxy for everything outside: whoever calls there is refused and seen.
pub(crate) fn variables(server: &ModelServer, own: &[(&str, &str)]) -> Vec<(String, String)> {
    let url = server.url();
    let proxy = [("HTTP_PROXY", url.as_str()), ("HTTPS_PROXY", &url), ("NO_PROXY", "127.0.0.1,localhost")];
    let all = own.iter().chain(&proxy);
    all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn write(sandbox: &Sandbox, path: &str, text: &str) {
    let path = sandbox.home().join(path);
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("make the folder of settings");
    fs::write(path, text).expect("write settings");
}
