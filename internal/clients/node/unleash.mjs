// unleash-client. MODE=delta fetches changes only, and MODE=streaming gets them as a stream.
import { startUnleash } from 'unleash-client';
import { appName, follow, token, url } from './follow.mjs';

const unleash = await startUnleash({
  url: `${url}/api/`,
  appName,
  customHeaders: { Authorization: token },
  refreshInterval: 1000,
  metricsInterval: 2000,
  ...(process.env.MODE === 'delta' && { experimentalMode: { type: 'polling', format: 'delta' } }),
  ...(process.env.MODE === 'streaming' && { experimentalMode: { type: 'streaming' } }),
});
for (const event of ['error', 'warn']) {
  unleash.on(event, (message) => console.error(event, message));
}
await follow((flag, user) => {
  const context = { userId: user.userId, properties: { plan: user.plan } };
  const variant = unleash.getVariant(flag.name, context);
  return [
    unleash.isEnabled(flag.name, context) ? 'on' : 'off',
    ...(variant.enabled ? [variant.name, variant.payload?.value] : []),
  ].join(' ').trim();
});
unleash.destroy();
