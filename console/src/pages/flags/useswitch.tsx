import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Suspense, lazy, useState, type ReactNode } from 'react'
import { apiQuery, errorText, useMe, type Allowed } from '../../api'
import { useProtections } from '../../requests/drafts'
import { useFreezes } from '../../requests/freeze'
import { toast, useAskedSwitch } from '../../ui'
import { flagPath } from '../flag/data'
import { Affected } from '../flag/strategy/affected'
import { useSwitchFlag } from './data'
import { hasStrategies, type FlagRow } from './rows'

const FirstStrategyDialog = lazy(() => import('../flag/firststrategy'))
const NotOffDialog = lazy(() => import('../flag/notoff'))

interface Place {
  name: string
  type: string
}

/** The overview of a project, with its default strategies. */
export const projectOverview = (projectId: string) => apiQuery('/api/admin/projects/{projectId}/overview', { path: { projectId } })

/** Switches of flags in a list: who may, what is asked before, and the questions to render. onDone follows what was asked. */
export function useRowSwitch(
  projects: readonly string[],
  onDone?: () => void,
): {
  allowed: (project: string, environment: string) => Allowed
  reviewed: (project: string, environment: string) => boolean
  onSwitch: (row: FlagRow, environment: Place, on: boolean) => void
  questions: ReactNode
} {
  const client = useQueryClient()
  const [first, setFirst] = useState<FirstProps>()
  const [notOff, setNotOff] = useState<FirstProps>()
  const [switchAsked, question] = useAskedSwitch()
  const { can } = useMe()
  const protectionOf = useProtections(projects)
  const freezeOf = useFreezes(projects)
  const switchFlag = useSwitchFlag()
  const onSwitch = async (row: FlagRow, environment: Place, on: boolean) => {
    const { project, name: flag } = row
    const { name } = environment
    const drafted = protectionOf(project).drafts(name, { off: !on })
    if (drafted && !on) return setNotOff({ project, flag, environment: name })
    const freeze = freezeOf(project, name, on)
    const bare = on && !hasStrategies(row, name)
    if (bare && freeze?.skips !== false) {
      const overview = await client.ensureQueryData(projectOverview(project))
      if (!overview.environments.find((one) => one.environment === name)?.defaultStrategy) return setFirst({ project, flag, environment: name })
    }
    switchAsked({
      what: flag,
      environment,
      on,
      freeze,
      drafted,
      details: <Affected projectId={project} flag={flag} environment={name} on={on} />,
      act: () => {
        switchFlag.mutate({ project, name: flag, environment: name, on, adds: bare })
        onDone?.()
      },
    })
  }
  return {
    allowed: (project, environment) =>
      protectionOf(project).drafts(environment) ? { allowed: true } : can('UPDATE_FEATURE_ENVIRONMENT', project, environment),
    reviewed: (project, environment) => protectionOf(project).of(environment) !== undefined,
    onSwitch: (...input) => void onSwitch(...input).catch((error: unknown) => toast.error(errorText(error))),
    questions: (
      <>
        {question}
        {first && <FirstStrategy {...first} onClose={() => (setFirst(undefined), onDone?.())} />}
        {notOff && (
          <Suspense fallback={null}>
            <NotOffDialog {...notOff} onClose={() => (setNotOff(undefined), onDone?.())} />
          </Suspense>
        )}
      </>
    ),
  }
}

interface FirstProps {
  project: string
  flag: string
  environment: string
}

// The list does not say what the dialog needs, such as which parents limit who gets the flag.
function FirstStrategy({ project, flag, environment: name, onClose }: FirstProps & { onClose: () => void }) {
  const navigate = useNavigate()
  const path = { projectId: project, featureName: flag }
  const found = useQuery({ ...apiQuery(flagPath, { path }), refetchOnMount: 'always' }).data
  const environment = found?.environments.find((one) => one.name === name)
  const editor = { environment: name, strategy: 'new', on: true }
  return (
    environment && (
      <Suspense fallback={null}>
        <FirstStrategyDialog
          flag={found!}
          environment={environment}
          onClose={onClose}
          onDetails={() => void navigate({ to: '/projects/$projectId/flags/$flag', params: { projectId: project, flag }, search: editor as never })}
        />
      </Suspense>
    )
  )
}
