import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { ApiError, api, errorText, useChange, type Schema } from '../../api'
import { SkipsFreeze } from '../../requests/freeze'
import { Button, DialogActions, Field, Icons, LinkButton, Loading, Notice, TextArea, plural, useAsked } from '../../ui'
import { flagList } from './data'
import { DependentsLine } from './dependents'
import { importEffect, importParts, maxImportBytes, placeOf, readImport } from './importfile'
import { ImportReportView, ImportResult, countOf } from './importreport'
import { TargetFields, useTarget } from './target'

interface ImportFormProps {
  project: string
  environment: string
  onTarget: (target: { project?: string; environment?: string }) => void
}

// A file with the spaces of an export is up to twice as large as what is sent.
const maxFileBytes = 4 * maxImportBytes

/** Choose or paste a file, check it, read the report, import it. */
export function ImportForm({ project, environment, onTarget }: ImportFormProps) {
  const target = useTarget(project, environment)
  const [text, setText] = useState('')
  const [fileName, setFileName] = useState('')
  const [fileError, setFileError] = useState('')
  const [over, setOver] = useState(false)
  const file = text.trim() ? readImport(text) : undefined
  const body = file?.data && { project: target.project, environment: target.environment, data: file.data }
  const check = useChange({
    change: (request: Schema<'ImportRequest'>) => api.post('/api/admin/features-batch/validate', { body: request }),
    showsErrors: true,
  })
  const run = useChange({
    change: (request: Schema<'ImportRequest'>) => api.post('/api/admin/features-batch/import', { body: request }),
    invalidates: ['/api/admin'],
    showsErrors: true,
  })
  const [ask, question] = useAsked()
  const askAndRun = () => {
    if (!body) return
    ask({
      environment: { name: body.environment, type: target.type },
      title: `Import ${plural(file.data.features.length, 'flag')} into ${body.environment}?`,
      action: 'Import',
      act: () => run.mutate(body),
      details: (
        <>
          <Effect data={file.data} project={body.project} environment={body.environment} />
          <SkipsFreeze project={body.project} environment={body.environment} />
        </>
      ),
    })
  }
  const forget = () => {
    check.reset()
    run.reset()
  }
  const take = (next: string, name = '') => {
    setText(next)
    setFileName(name)
    setFileError('')
    forget()
  }
  const choose = async (chosen: File | undefined) => {
    if (!chosen) return
    if (chosen.size > maxFileBytes) {
      take('')
      setFileError(`${chosen.name} has more than ${maxFileBytes / 1024 / 1024} MiB. Use the command guidon import, which sends it in parts.`)
      return
    }
    take(await chosen.text(), chosen.name)
  }
  // A file is complete, so it is checked as soon as it is known where it goes. What is typed is checked by the button.
  useEffect(() => {
    if (fileName && body && body.project && body.environment && check.isIdle && run.isIdle) check.mutate(body)
  })
  const report = check.data
  const changes = report ? countOf(report.features, 'created') + countOf(report.features, 'overwritten') : 0
  const error = run.error ?? check.error
  return (
    <div className="stack">
      <Field label="File" hideLabel error={fileError || (fileName && file?.error) || undefined}>
        {(control) => (
          <div
            className="flags-drop"
            data-over={over || undefined}
            onDragOver={(event) => {
              event.preventDefault()
              setOver(true)
            }}
            onDragLeave={() => setOver(false)}
            onDrop={(event) => {
              event.preventDefault()
              setOver(false)
              void choose(event.dataTransfer.files[0])
            }}
          >
            <Icons.Archive />
            <p>{fileName ? <span className="strong break">{fileName}</span> : 'Drop an export of Guidon or Unleash here, or click to choose it.'}</p>
            <input
              {...control}
              type="file"
              accept=".json,application/json"
              onChange={(event) => {
                void choose(event.target.files?.[0])
                // The same file can then be chosen again, after it was changed.
                event.target.value = ''
              }}
            />
          </div>
        )}
      </Field>
      {fileName ? (
        <div>
          <Button size="small" variant="quiet" onClick={() => take('')}>
            Remove
          </Button>
        </div>
      ) : (
        <TextArea
          label="Or paste the JSON"
          rows={4}
          spellCheck={false}
          className="input mono"
          error={file?.error}
          value={text}
          onChange={(next) => take(next)}
        />
      )}
      {file?.data && (
        <p className="soft">
          {importParts(file.data)
            .map(({ noun, nouns, count }) => plural(count, noun, nouns))
            .join(', ')}
        </p>
      )}
      <TargetFields
        project={project}
        environment={environment}
        onChange={(change) => {
          onTarget(change)
          forget()
        }}
      />
      {error && body && <ImportErrors error={error} data={body.data} />}
      {run.data ? <ImportResult result={run.data} project={target.project} /> : report && <ImportReportView report={report} project={target.project} />}
      <DialogActions>
        {run.data ? (
          <>
            <Button onClick={() => take('')}>Import another file</Button>
            <LinkButton to="/projects/$projectId/log" params={{ projectId: target.project }}>
              Open the log
            </LinkButton>
            <LinkButton variant="primary" to="/projects/$projectId" params={{ projectId: target.project }}>
              Open the flags
            </LinkButton>
          </>
        ) : (
          <>
            {report ? (
              <Button
                variant="primary"
                pending={run.isPending}
                disabledReason={report.permissions.length > 0 ? 'You lack permissions that this import needs.' : reasonNot(body)}
                onClick={askAndRun}
              >
                {changes > 0 ? `Import ${plural(changes, 'flag')}` : 'Import'}
              </Button>
            ) : (
              <Button variant="primary" pending={check.isPending} disabledReason={reasonNot(body)} onClick={() => body && check.mutate(body)}>
                Check
              </Button>
            )}
          </>
        )}
      </DialogActions>
      {question}
    </div>
  )
}

const namedFlags = 5

// Says which flags the import switches on or off, or overwrites. It cannot be undone, and the file does not show the flags that exist now.
function Effect({ data, project, environment }: { data: Schema<'ImportData'>; project: string; environment: string }) {
  const list = useQuery({ ...flagList(project), refetchOnMount: 'always' })
  if (!list.data) return list.error ? <p>{errorText(list.error)}</p> : <Loading lines={1} />
  const { switchedOn, switchedOff, known, stayOn } = importEffect(data, list.data.features, environment)
  const named = (names: string[]) => names.slice(0, namedFlags).join(', ') + (names.length > namedFlags ? ' …' : '')
  return (
    <>
      <p className="break">
        {switchedOn.length > 0 ? `The file switches ${plural(switchedOn.length, 'flag')} on: ${named(switchedOn)}` : 'The file switches no flag on.'}
      </p>
      {switchedOff.length > 0 && (
        <p className="strong break">
          It switches {plural(switchedOff.length, 'flag')} off: {named(switchedOff)}
        </p>
      )}
      {stayOn.length > 0 && (
        <p className="strong break">
          It overwrites {plural(stayOn.length, 'flag')} that {stayOn.length === 1 ? 'is' : 'are'} on: {named(stayOn)}
        </p>
      )}
      <DependentsLine projectId={project} flags={known} />
    </>
  )
}

function reasonNot(body: Schema<'ImportRequest'> | undefined) {
  if (!body) return 'Choose or paste a file first.'
  return body.project && body.environment ? undefined : 'Choose a project and an environment first.'
}

const shownErrors = 100

// What the server refuses about the file, each with its place in it.
function ImportErrors({ error, data }: { error: Error; data: Schema<'ImportData'> }) {
  const details = error instanceof ApiError ? error.details : []
  return (
    <div role="alert">
      <Notice kind="danger" title={details.length > 0 ? 'The server does not accept this file' : errorText(error)}>
        {details.length > 0 && (
          <ul className="flags-findings">
            {details.slice(0, shownErrors).map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                {path && <span className="strong">{placeOf(path, data)}: </span>}
                {message}
              </li>
            ))}
            {details.length > shownErrors && <li>and {plural(details.length - shownErrors, 'more error')}</li>}
          </ul>
        )}
      </Notice>
    </div>
  )
}
