// Reads flags through code that the OpenFeature CLI has generated beside it.
import { OpenFeature } from '@openfeature/server-sdk';
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { getGeneratedClient } from './openfeature.js';

declare const process: { env: Record<string, string> };
declare const console: { log(...args: unknown[]): void };

await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: process.env.URL, headers: [['Authorization', `Bearer ${process.env.TOKEN}`]] }));
const client = getGeneratedClient(), user = { targetingKey: 'user-1' };
const results: number = await client.searchResults(user);
const ratio: number = await client.ratio(user);
const greeting: string = await client.greeting(user);
const plain: boolean = await client.plain(user);
const limits = (await client.limits(user)) as { size: number };
console.log(results, ratio, greeting, plain, limits.size);
