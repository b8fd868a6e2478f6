// Evaluates flags for contexts with the clients for browsers, whose server evaluates, and logs an object: for each client an object that has, for
// each flag, a list with one text for each context. The test writes the settings above this line.
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature } from '@openfeature/web-sdk';
import { InMemoryStorageProvider, UnleashClient } from 'unleash-proxy-client';

const { url, token, flags, contexts } = settings;

/** evaluate gives a client each context and asks for all flags. */
async function evaluate(update, ask) {
  const results = {};
  for (const context of contexts) {
    await update(context);
    for (const name of flags) {
      (results[name] ??= []).push(ask(name));
    }
  }
  return results;
}

async function unleash(usePOSTrequests) {
  const client = new UnleashClient({
    url: `${url}/api/frontend`,
    clientKey: token,
    appName: 'evaluate',
    disableRefresh: true,
    disableMetrics: true,
    usePOSTrequests,
    storageProvider: new InMemoryStorageProvider(),
  });
  client.on('error', (error) => console.log(JSON.stringify(error)));
  await client.start();
  return evaluate(({ appName, environment, ...context }) => client.updateContext(context), (name) => {
    const variant = client.getVariant(name);
    return variant.enabled ? `${client.isEnabled(name)} ${variant.name}` : `${client.isEnabled(name)}`;
  });
}

async function ofrep() {
  await OpenFeature.setProviderAndWait(new OFREPWebProvider({ baseUrl: url, headers: [['Authorization', token]] }));
  const client = OpenFeature.getClient();
  return evaluate(({ userId, properties, ...fields }) => OpenFeature.setContext({ targetingKey: userId, ...fields, ...properties }), (name) => {
    const got = client.getBooleanDetails(name, false);
    return ['enabled', 'disabled'].includes(got.variant) ? `${got.value}` : `${got.value} ${got.variant ?? got.errorMessage}`;
  });
}

console.log(JSON.stringify({ browser: await unleash(false), 'browser-post': await unleash(true), 'browser-ofrep': await ofrep() }));
