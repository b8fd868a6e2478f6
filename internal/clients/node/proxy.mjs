// @unleash/proxy, with unleash-proxy-client in front of it, as pages use both.
import { createApp } from '@unleash/proxy';
import { InMemoryStorageProvider, UnleashClient } from 'unleash-proxy-client';
import { appName, follow, token, url } from './follow.mjs';

const key = 'key-of-the-page';
const app = createApp({
  unleashUrl: `${url}/api/`,
  unleashApiToken: token,
  unleashAppName: appName,
  clientKeys: [key],
  refreshInterval: 1000,
  metricsInterval: 2000,
  logger: { ...console, log: console.error, info: console.error, debug() {} }, // the standard output is for answers
});
const server = await new Promise((resolve) => { const listening = app.listen(0, '127.0.0.1', () => resolve(listening)); });
const clients = {};
await follow(async (flag, user) => {
  if (!clients[user.name]) {
    clients[user.name] = new UnleashClient({
      url: `http://127.0.0.1:${server.address().port}/proxy`,
      clientKey: key,
      appName,
      refreshInterval: 1,
      metricsInterval: 2,
      storageProvider: new InMemoryStorageProvider(),
      context: { userId: user.userId, properties: { plan: user.plan } },
    });
    clients[user.name].on('error', (error) => console.error(error));
    await clients[user.name].start();
  }
  const variant = clients[user.name].getVariant(flag.name);
  const enabled = clients[user.name].isEnabled(flag.name);
  return [enabled ? 'on' : 'off', ...(variant.enabled ? [variant.name, variant.payload?.value] : [])].join(' ').trim();
});
process.exit(0);
