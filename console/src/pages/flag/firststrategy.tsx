import { api, useChange } from '../../api'
import { FormActions, useForm } from '../../forms'
import { useProtection } from '../../requests/drafts'
import { Button, Dialog, NumberField, RadioGroup, isProduction } from '../../ui'
import { expectNone, removeFirst } from './added'
import { useAtOnce } from './atonce'
import { environmentPath, touched, useProject, type Flag, type FlagEnvironment } from './data'
import { onlyWhere } from './strategy/describe'
import { newStrategy, strategyRequest } from './strategy/model'

interface FirstStrategyProps {
  flag: Flag
  environment: FlagEnvironment
  onClose: () => void
  /** Opens the editor of a strategy instead. */
  onDetails: () => void
}

interface Audience {
  who: 'everyone' | 'share'
  rollout: number | null
}

/** Asks who gets a flag that is switched on without a strategy, adds the strategy and switches the flag on. */
export default function FirstStrategyDialog({ flag, environment, onClose, onDetails }: FirstStrategyProps) {
  const stickiness = useProject(flag.project)?.defaultStickiness ?? 'default'
  const path = { projectId: flag.project, featureName: flag.name, environment: environment.name }
  const protection = useProtection(flag.project)
  const atOnce = useAtOnce(flag, environment, true)
  const add = (rollout: number) => api.request.post(`${environmentPath}/strategies`, { path, body: strategyRequest(newStrategy(stickiness, rollout)) })
  const on = api.request.post(`${environmentPath}/on`, { path })
  const start = useChange({
    change: async (rollout: number) => {
      await expectNone(path)
      const strategy = await api.send(add(rollout))
      await api.send(on)
      return strategy
    },
    requests: (rollout) => [add(rollout), on],
    onDrafted: onClose,
    invalidates: touched,
    success: (_, rollout) => `${flag.name} is on in ${environment.name} for ${rollout === 100 ? 'everyone' : `${rollout}% of users`}`,
    undo: (_, strategy) => removeFirst(path, strategy),
    showsErrors: true,
    onSuccess: onClose,
  })
  const percentOf = ({ who, rollout }: Audience) => (who === 'everyone' ? 100 : (rollout ?? 0))
  const form = useForm<Audience>({
    initial: { who: isProduction(environment) ? 'share' : 'everyone', rollout: 10 },
    submit: (values) => start.mutateAsync(percentOf(values)),
    check: ({ who, rollout }) => ({
      rollout: who === 'share' && (rollout === null || rollout < 0 || rollout > 100) ? 'Enter a percentage from 0 to 100.' : '',
    }),
    pointers: { rollout: '/parameters/rollout' },
  })
  return (
    <Dialog open onClose={onClose} title={`Who gets ${flag.name} in ${environment.name}?`}>
      <form {...form.props}>
        <RadioGroup
          label="Audience"
          choices={[
            { value: 'everyone', label: 'Everyone' },
            { value: 'share', label: 'A percentage of users', hint: 'The same users get it each time.' },
          ]}
          {...form.field('who')}
        />
        {form.values.who === 'share' && <NumberField label="Percentage" min={0} max={100} step={1} unit="%" {...form.field('rollout')} />}
        {flag.dependencies.length > 0 && <p className="break">{onlyWhere(flag.dependencies)}</p>}
        {atOnce.line({ widens: percentOf(form.values) > 0 })}
        <FormActions form={form} submit={protection.label('Switch on', environment.name)} onCancel={onClose}>
          <Button
            variant="quiet"
            onClick={() => {
              onClose()
              onDetails()
            }}
          >
            Constraints, segments…
          </Button>
        </FormActions>
      </form>
    </Dialog>
  )
}
