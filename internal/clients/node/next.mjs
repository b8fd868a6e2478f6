// @unleash/nextjs without Next.js, as its server components use it: each request for a page evaluates all flags for its user, and reports
// what the page asked for.
import { evaluateFlags, flagsClient, getDefinitions } from '@unleash/nextjs';
import { appName, follow, token, url } from './follow.mjs';

let definitions;
let fetched = 0;
await follow(async (flag, user) => {
  if (Date.now() - fetched > 1000) {
    fetched = Date.now();
    const got = await getDefinitions({ url: `${url}/api/client/features`, token, appName }).catch(console.error);
    definitions = got?.features ? got : definitions; // the SDK returns the body of an error, too
  }
  const { toggles } = evaluateFlags(definitions, { userId: user.userId, appName, properties: { plan: user.plan } });
  const client = flagsClient(toggles, { url: `${url}/api`, appName, clientKey: token });
  const variant = client.getVariant(flag.name);
  const enabled = client.isEnabled(flag.name);
  await client.sendMetrics();
  return [enabled ? 'on' : 'off', ...(variant.enabled ? [variant.name, variant.payload?.value] : [])].join(' ').trim();
}, 200);
