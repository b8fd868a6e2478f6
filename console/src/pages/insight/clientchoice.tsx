import { useId } from 'react'
import { Section } from '../../ui'
import { logoOf } from './logos'
import { clients, type Client } from './snippets'

const groups: { kind: Client['kind']; title: string; hint: string }[] = [
  { kind: 'server', title: 'On a server', hint: 'The SDK reads all flags with a secret token, and decides itself.' },
  { kind: 'browser', title: 'In a browser or an app', hint: 'Guidon decides for each user. The token may be public.' },
]

/** The client library, in two groups: those of servers and those of browsers. */
export function ClientChoice({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const name = useId()
  return (
    <Section title="Where it runs">
      {groups.map((group) => (
        <fieldset key={group.kind} className="stack-s" aria-describedby={`${name}-${group.kind}`}>
          <legend className="strong">{group.title}</legend>
          <p id={`${name}-${group.kind}`} className="soft small">
            {group.hint}
          </p>
          <div className="client-choices">
            {clients
              .filter((client) => client.kind === group.kind)
              .map((client) => (
                <label key={client.id} className="client-choice">
                  <input type="radio" name={name} value={client.id} checked={client.id === value} onChange={() => onChange(client.id)} />
                  <svg width="16" height="16" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">
                    <path d={logoOf(client.id)} />
                  </svg>
                  {client.label}
                </label>
              ))}
          </div>
        </fieldset>
      ))}
    </Section>
  )
}
