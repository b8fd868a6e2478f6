import { useId, useState } from 'react'
import { TextField } from '../../../ui'
import { bucket } from './bucket'

interface RolloutFieldProps {
  label: string
  value: string
  onChange: (value: string) => void
  error?: string
}

/** A percentage with a slider and a field. */
export function RolloutField({ label, value, onChange, error }: RolloutFieldProps) {
  const id = useId()
  return (
    <div className="rollout-field">
      <div className="row-apart">
        <label htmlFor={`${id}-number`} className="field-label">
          {label}
        </label>
        <span className="row rollout-presets">
          {[0, 10, 25, 50, 100].map((preset) => (
            <button
              key={preset}
              type="button"
              className="rollout-preset"
              aria-pressed={Number(value) === preset && value !== ''}
              onClick={() => onChange(String(preset))}
            >
              {preset}%
            </button>
          ))}
        </span>
      </div>
      <div className="rollout-controls">
        <input
          type="range"
          className="rollout-slider"
          aria-label={`${label}, slider`}
          aria-valuetext={`${clamp(Number(value))}%`}
          min={0}
          max={100}
          step={1}
          value={clamp(Number(value))}
          style={{ ['--filled' as string]: `${clamp(Number(value))}%` }}
          onChange={(event) => onChange(event.target.value)}
        />
        <span className="input-with-unit">
          <input
            id={`${id}-number`}
            type="number"
            className="input number rollout-number"
            min={0}
            max={100}
            step={1}
            value={value}
            aria-invalid={error ? true : undefined}
            aria-describedby={error ? `${id}-error` : undefined}
            onChange={(event) => onChange(event.target.value)}
          />
          <span className="soft">%</span>
        </span>
      </div>
      {error && (
        <p id={`${id}-error`} className="field-error">
          {error}
        </p>
      )}
    </div>
  )
}

interface PreviewProps {
  percent: number
  groupId: string
  /** The field whose value decides: userId, sessionId or another one. */
  field: string
  /** Segments or constraints must hold as well. */
  conditions: boolean
}

/** Shows the 100 places of a rollout, and where an ID is. */
export function RolloutPreview({ percent, groupId, field, conditions }: PreviewProps) {
  const [id, setId] = useState('')
  const place = id.trim() === '' ? undefined : bucket(groupId, id.trim())
  const included = place !== undefined && place <= percent
  return (
    <div className="rollout-preview">
      <p className="soft small">
        The first {Math.floor(clamp(percent))} of 100 places get the flag. The same {field} always has the same place.
      </p>
      <div className="rollout-places" aria-hidden="true">
        {Array.from({ length: 100 }, (_, index) => (
          <span key={index} className={`${index < Math.floor(percent) ? 'place place-in' : 'place'}${place === index + 1 ? ' place-of-id' : ''}`} />
        ))}
      </div>
      <div className="rollout-try">
        <TextField label={`Try a ${field}`} value={id} onChange={setId} maxLength={200} placeholder="42" />
        <p role="status" className={place === undefined ? 'soft' : included ? 'rollout-in' : 'rollout-out'}>
          {place === undefined
            ? ''
            : included
              ? `${conditions ? 'Gets the flag if the conditions below hold' : 'Gets the flag'}: place ${place} of 100, within ${clamp(percent)}%.`
              : `Does not get the flag: place ${place} of 100, beyond ${clamp(percent)}%.`}
        </p>
      </div>
    </div>
  )
}

const clamp = (value: number) => (Number.isFinite(value) ? Math.max(0, Math.min(100, value)) : 0)
