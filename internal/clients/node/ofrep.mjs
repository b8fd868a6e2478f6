// @openfeature/ofrep-provider, which sends a request for each evaluation.
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature } from '@openfeature/server-sdk';
import { follow, token, url } from './follow.mjs';

await OpenFeature.setProviderAndWait(new OFREPProvider({ baseUrl: url, headers: { Authorization: token } }));
const client = OpenFeature.getClient();
const details = {
  boolean: (flag, context) => client.getBooleanDetails(flag, false, context),
  string: (flag, context) => client.getStringDetails(flag, '', context),
  number: (flag, context) => client.getNumberDetails(flag, 0, context),
  object: (flag, context) => client.getObjectDetails(flag, {}, context),
};
await follow(async (flag, user) => {
  const got = await details[flag.type](flag.name, { targetingKey: user.userId, plan: user.plan });
  if (!['FLAG_NOT_FOUND', 'TYPE_MISMATCH', undefined].includes(got.errorCode)) {
    console.error(flag.name, got);
  }
  if (flag.type === 'boolean') {
    return got.value ? 'on' : 'off';
  }
  const value = flag.type === 'object' ? JSON.stringify(got.value) : got.value;
  return got.variant && !got.errorCode ? `on ${got.variant} ${value}` : 'off';
}, 500);
await OpenFeature.close();
