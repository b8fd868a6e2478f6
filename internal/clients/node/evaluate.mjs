// Evaluates every flag of a server for every context of the standard input with unleash-client, and prints an object: for each
// flag a list with one text for each context.
import { readFileSync } from 'node:fs';
import { startUnleash } from 'unleash-client';

const contexts = JSON.parse(readFileSync(0, 'utf8'));
const unleash = await startUnleash({
  url: `${process.env.GUIDON_URL}/api/`,
  appName: 'evaluate',
  customHeaders: { Authorization: process.env.TOKEN },
  disableMetrics: true,
});
unleash.on('error', (error) => {
  console.error(error);
  process.exit(1);
});
const results = {};
for (const { name } of unleash.getFeatureToggleDefinitions()) {
  results[name] = contexts.map((context, i) => {
    // Users without an id are put into a rollout at random. Here a number follows from the context.
    Math.random = () => (i * 0.6180339887498949) % 1;
    const variant = unleash.getVariant(name, context);
    const enabled = unleash.isEnabled(name, context);
    return variant.enabled ? `${enabled} ${variant.name} ${JSON.stringify(variant.payload)}` : `${enabled}`;
  });
}
unleash.destroy();
process.stdout.write(JSON.stringify(results));
