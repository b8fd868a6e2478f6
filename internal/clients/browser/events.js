// @openfeature/ofrep-web-provider with its default options: it does not poll, so it shows a change only if a stream tells it.
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';
import { OpenFeature, ProviderEvents } from '@openfeature/web-sdk';

const { url, token, flag } = await (await fetch('/settings')).json();
const client = OpenFeature.getClient();
const tell = () => fetch('/shown', { method: 'POST', body: String(client.getBooleanValue(flag, false)) });
await OpenFeature.setContext({ targetingKey: '7' });
await OpenFeature.setProviderAndWait(new OFREPWebProvider({ baseUrl: url, headers: [['Authorization', token]] }));
client.addHandler(ProviderEvents.ConfigurationChanged, tell);
await tell();
