//! Evaluates the flags in FLAGS, a list of names, for every context of the standard input with unleash-api-client, and prints an object:
//! for each flag a list with one text for each context.

use std::{collections::BTreeMap, env, error::Error, io, time::Duration};

use unleash_api_client::{client::ClientBuilder, client::FeatureKey, context::Context};

/// The program asks for flags by their names.
#[derive(Clone, Copy, Debug)]
enum ByName {}

impl FeatureKey for ByName {
    fn name(self) -> &'static str {
        match self {}
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let contexts: Vec<Context> = serde_json::from_reader(io::stdin())?;
    let flags: Vec<String> = serde_json::from_str(&env::var("FLAGS")?)?;
    let client = ClientBuilder::default()
        .enable_string_features()
        .disable_metric_submission()
        .into_client::<ByName>(
            &(env::var("GUIDON_URL")? + "/api"),
            "evaluate",
            "evaluate",
            Some(env::var("TOKEN")?),
        )?;
    tokio::select! {
        _ = client.poll_for_updates() => {}
        _ = async {
            while client.cached_state().is_none() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        } => {}
    }
    let mut results = BTreeMap::new();
    for name in &flags {
        results.insert(
            name,
            contexts
                .iter()
                .map(|context| {
                    let enabled = client.is_enabled_str(name, Some(context), false);
                    let variant = client.get_variant_str(name, context);
                    if variant.enabled {
                        format!("{enabled} {}", variant.name)
                    } else {
                        enabled.to_string()
                    }
                })
                .collect::<Vec<_>>(),
        );
    }
    println!("{}", serde_json::to_string(&results)?);
    Ok(())
}
