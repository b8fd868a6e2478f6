// Evaluates every flag of a server for every context of the standard input with unleash-client, and prints an object: for each flag a
// text with 1 or 0 for each context.
import { readFileSync } from 'node:fs';
import { startUnleash } from 'unleash-client';

const contexts = JSON.parse(readFileSync(0, 'utf8'));
const unleash = await startUnleash({ url: `${process.env.GUIDON_URL}/api/`, appName: 'evaluate', disableMetrics: true });
unleash.on('error', (error) => {
  console.error(error);
  process.exit(1);
});
const results = {};
for (const { name } of unleash.getFeatureToggleDefinitions()) {
  results[name] = contexts.map((context) => (unleash.isEnabled(name, context) ? '1' : '0')).join('');
}
unleash.destroy();
process.stdout.write(JSON.stringify(results));
