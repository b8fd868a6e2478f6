// @unleash/nextjs without Next.js, as its server components use it: each page evaluates all flags for its user, asks for some of them, and
// reports these.
import { evaluateFlags, flagsClient, getDefinitions } from '@unleash/nextjs';
import { appName, flags, follow, token, url } from './follow.mjs';

let definitions;
let fetched = 0;
let client;
await follow(async (flag, user) => {
  if (flag === flags[0]) {
    if (Date.now() - fetched > 1000) {
      fetched = Date.now();
      const got = await getDefinitions({ url: `${url}/api/client/features`, token, appName }).catch(console.error);
      definitions = got?.features ? got : definitions; // the SDK returns the body of an error, too
    }
    const { toggles } = evaluateFlags(definitions, { userId: user.userId, appName, properties: { plan: user.plan } });
    client = flagsClient(toggles, { url: `${url}/api`, appName, clientKey: token });
  }
  const variant = client.getVariant(flag.name);
  const enabled = client.isEnabled(flag.name);
  if (flag === flags.at(-1)) {
    await client.sendMetrics();
  }
  return [enabled ? 'on' : 'off', ...(variant.enabled ? [variant.name, variant.payload?.value] : [])].join(' ').trim();
}, 200);
