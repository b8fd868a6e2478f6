import { useQueryClient } from '@tanstack/react-query'
import { api, useChange } from '../../api'
import { environmentPath, flagKey, touched, type Flag } from './data'

interface Flip {
  environment: string
  on: boolean
}

/** Switches the flag on or off in an environment: at once, with Undo, and back with the reason if the server refuses. */
export function useSwitch(flag: Flag) {
  const client = useQueryClient()
  const request = ({ environment, on }: Flip) => {
    const path = { projectId: flag.project, featureName: flag.name, environment }
    return on ? api.request.post(`${environmentPath}/on`, { path }) : api.request.post(`${environmentPath}/off`, { path })
  }
  const send = (flip: Flip) => api.send<unknown>(request(flip))
  return useChange({
    change: send,
    requests: (flip: Flip) => [request(flip)],
    invalidates: touched,
    optimistic: ({ environment, on }: Flip) => [{ key: flagKey(flag), update: (old?: Flag) => old && withSwitch(old, environment, on) }],
    success: (_, { environment, on }) => {
      const before = client.getQueryData<Flag>(flagKey(flag))?.environments.find((one) => one.name === environment)
      const added = on && before?.strategies.length === 0
      return `${flag.name} is ${on ? 'on' : 'off'} in ${environment}${added ? ", with the project's default strategy" : ''}`
    },
    undo: ({ environment, on }) => send({ environment, on: !on }),
  })
}

function withSwitch(flag: Flag, environment: string, enabled: boolean): Flag {
  return { ...flag, environments: flag.environments.map((one) => (one.name === environment ? { ...one, enabled } : one)) }
}
