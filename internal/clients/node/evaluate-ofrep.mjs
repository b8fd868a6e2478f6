// Evaluates every flag of a server for every context of the standard input with @openfeature/ofrep-provider, which sends a request for each,
// and prints an object: for each flag a list with one text for each context.
import { readFileSync } from 'node:fs';
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature } from '@openfeature/server-sdk';

await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: process.env.GUIDON_URL, headers: { Authorization: process.env.TOKEN } }));
const client = OpenFeature.getClient();
const results = {};
for (const { userId, properties, ...fields } of JSON.parse(readFileSync(0, 'utf8'))) {
  await Promise.all(JSON.parse(process.env.FLAGS).map(async (name) => {
    const got = await client.getBooleanDetails(name, false, { targetingKey: userId, ...fields, ...properties });
    if (got.errorCode) {
      throw new Error(`${name}: ${got.errorCode}: ${got.errorMessage}`);
    }
    (results[name] ??= []).push(['enabled', 'disabled'].includes(got.variant) ? `${got.value}` : `${got.value} ${got.variant}`);
  }));
}
process.stdout.write(JSON.stringify(results));
