import { api, useChange } from '../../api'
import { switchOne, undoOne } from './added'
import { environmentPath, flagKey, touched, type Flag } from './data'

interface Flip {
  environment: string
  on: boolean
  /** The flag seems to have no strategy there: switching on adds the project's default strategy. */
  adds?: boolean
}

/**
 * Switches the flag on or off in an environment: at once, with Undo, and back with the reason if the server refuses. direct makes no draft of it,
 * for those who may skip change requests; the caller then shows errors.
 */
export function useSwitch(flag: Pick<Flag, 'project' | 'name'>, { direct, onSuccess }: { direct?: boolean; onSuccess?: () => void } = {}) {
  const at = ({ environment }: Flip) => ({ projectId: flag.project, featureName: flag.name, environment })
  const request = (flip: Flip) => {
    const path = at(flip)
    return flip.on ? api.request.post(`${environmentPath}/on`, { path }) : api.request.post(`${environmentPath}/off`, { path })
  }
  const send = (flip: Flip) => api.send<unknown>(request(flip))
  return useChange({
    change: (flip: Flip) => switchOne(at(flip), flip, () => send(flip)),
    requests: direct ? undefined : (flip: Flip) => [request(flip)],
    showsErrors: direct,
    onSuccess,
    invalidates: touched,
    optimistic: ({ environment, on }: Flip) => [{ key: flagKey(flag), update: (old?: Flag) => old && withSwitch(old, environment, on) }],
    success: ({ added }, { environment, on }) =>
      `${flag.name} is ${on ? 'on' : 'off'} in ${environment}${added.size > 0 ? ", with the project's default strategy" : ''}`,
    undo: (flip, done) => undoOne(at(flip), flip.on, done, () => send({ ...flip, on: !flip.on })),
  })
}

function withSwitch(flag: Flag, environment: string, enabled: boolean): Flag {
  return { ...flag, environments: flag.environments.map((one) => (one.name === environment ? { ...one, enabled } : one)) }
}
