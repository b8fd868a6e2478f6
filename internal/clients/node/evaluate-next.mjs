// Evaluates every flag of a server for every context of the standard input with @unleash/nextjs, and prints an object: for each flag a
// list with one text for each context.
import { readFileSync } from 'node:fs';
import { evaluateFlags, flagsClient, getDefinitions } from '@unleash/nextjs';

const definitions = await getDefinitions({ url: `${process.env.GUIDON_URL}/api/client/features`, token: process.env.TOKEN, appName: 'evaluate' });
const results = {};
for (const context of JSON.parse(readFileSync(0, 'utf8'))) {
  const client = flagsClient(evaluateFlags(definitions, context).toggles);
  for (const name of JSON.parse(process.env.FLAGS)) {
    const variant = client.getVariant(name);
    const enabled = client.isEnabled(name);
    (results[name] ??= []).push(variant.enabled ? `${enabled} ${variant.name}` : `${enabled}`);
  }
}
process.stdout.write(JSON.stringify(results));
