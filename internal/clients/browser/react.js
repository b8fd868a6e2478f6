// @unleash/proxy-client-react: a component for each user, which is drawn again whenever a flag of it changes.
import { FlagProvider, useFlag, useVariant } from '@unleash/proxy-client-react';
import { createElement } from 'react';
import { createRoot } from 'react-dom/client';
import { InMemoryStorageProvider } from 'unleash-proxy-client';
import { answer, flags, follow, prefix, settingsFor } from './follow.js';

const name = `${prefix}browser-react`;
follow(name, (user) => {
  const drawn = {};
  const Flag = ({ flag }) => {
    drawn[flag.name] = answer(useFlag(flag.name), useVariant(flag.name));
    return drawn[flag.name];
  };
  const config = { ...settingsFor(name, user), storageProvider: new InMemoryStorageProvider() };
  const element = document.body.appendChild(document.createElement('div'));
  createRoot(element).render(createElement(FlagProvider, { config }, flags.map((flag) => createElement(Flag, { flag, key: flag.name }))));
  return (flag) => drawn[flag.name];
});
