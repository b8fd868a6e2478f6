// @openfeature/ofrep-web-provider, which fetches all flags in one request.
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature } from '@openfeature/web-sdk';
import { follow, prefix, token, url } from './follow.js';

follow(`${prefix}browser-ofrep`, async (user) => {
  await OpenFeature.setContext(user.name, { targetingKey: user.userId, plan: user.plan });
  const provider = new OFREPWebProvider({ baseUrl: url, headers: [['Authorization', token]], pollInterval: 1000 });
  await OpenFeature.setProviderAndWait(user.name, provider);
  const client = OpenFeature.getClient(user.name);
  const details = {
    boolean: (flag) => client.getBooleanDetails(flag, false),
    string: (flag) => client.getStringDetails(flag, ''),
    number: (flag) => client.getNumberDetails(flag, 0),
    object: (flag) => client.getObjectDetails(flag, {}),
  };
  return (flag) => {
    const got = details[flag.type](flag.name);
    if (flag.type === 'boolean') {
      return got.value ? 'on' : 'off';
    }
    const value = flag.type === 'object' ? JSON.stringify(got.value) : got.value;
    return got.variant && !got.errorCode ? `on ${got.variant} ${value}` : 'off';
  };
});
