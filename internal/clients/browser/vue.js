// @unleash/proxy-client-vue: a component for each user, which is drawn again whenever a flag of it changes.
import { FlagProvider, InMemoryStorageProvider, useFlag, useVariant } from '@unleash/proxy-client-vue';
import { createApp, h } from 'vue';
import { answer, flags, follow, prefix, settingsFor } from './follow.js';

const name = `${prefix}browser-vue`;
follow(name, (user) => {
  const drawn = {};
  const Flag = {
    props: ['name'],
    setup({ name: flag }) {
      const enabled = useFlag(flag);
      const variant = useVariant(flag);
      return () => {
        drawn[flag] = answer(enabled.value, variant.value);
        return drawn[flag];
      };
    },
  };
  const config = { ...settingsFor(name, user), storageProvider: new InMemoryStorageProvider() };
  const element = document.body.appendChild(document.createElement('div'));
  createApp(() => h(FlagProvider, { config }, () => flags.map((flag) => h(Flag, { name: flag.name, key: flag.name })))).mount(element);
  return (flag) => drawn[flag.name];
});
