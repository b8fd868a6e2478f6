import { useState } from 'react'
import { api, useMe } from '../../../api'
import { ConstraintList, toRequest, type Constraint } from '../../../constraints'
import { FormDialog, useChangeForm } from '../../../forms'
import { Button, Icons, Select, TextField } from '../../../ui'
import { canChangeSegment } from '../../settings/rights'

interface NewSegmentProps {
  projectId: string
  onCreated: (id: number) => void
  disabledReason?: string
}

/** A button in the form of a strategy that creates a segment, which the strategy then uses. */
export function NewSegment({ projectId, onCreated, disabledReason }: NewSegmentProps) {
  const [open, setOpen] = useState(false)
  const me = useMe()
  return (
    <div>
      <Button size="small" icon={<Icons.Plus />} disabledReason={canChangeSegment(me, projectId).reason ?? disabledReason} onClick={() => setOpen(true)}>
        Create segment
      </Button>
      {open && <SegmentDialog projectId={projectId} onCreated={onCreated} onClose={() => setOpen(false)} />}
    </div>
  )
}

interface Values {
  name: string
  project: string
  constraints: Constraint[]
}

const createRequest = (values: Values) =>
  api.request.post('/api/admin/segments', {
    body: { name: values.name.trim(), project: values.project || null, constraints: toRequest(values.constraints) as never },
  })

function SegmentDialog({ projectId, onCreated, onClose }: { projectId: string; onCreated: (id: number) => void; onClose: () => void }) {
  const everywhere = canChangeSegment(useMe()).allowed
  const form = useChangeForm({
    initial: { name: '', project: projectId, constraints: [] as Constraint[] },
    nameField: 'name',
    change: (values: Values) => api.send(createRequest(values)),
    invalidates: ['/api/admin/segments', '/api/admin/context'],
    success: (segment) => `Segment ${segment.name} created`,
    onSuccess: (segment) => {
      onCreated(segment.id)
      onClose()
    },
    check: (values) => ({ constraints: values.constraints.length === 0 ? 'Add a constraint: without one, everyone is in the segment.' : '' }),
  })
  const constraints = form.field('constraints')
  return (
    <FormDialog
      form={form}
      submit="Create segment"
      wide
      onClose={onClose}
      title="Create segment"
      description="Several strategies can use it. Changing it later changes all of them."
    >
      <div className="columns">
        <TextField label="Name" required autoFocus maxLength={255} {...form.field('name')} />
        <Select
          label="Usable in"
          choices={[
            { value: projectId, label: `Project ${projectId}` },
            { value: '', label: 'All projects', disabled: !everywhere },
          ]}
          {...form.field('project')}
        />
      </div>
      <h4 className="field-label">Constraints</h4>
      <ConstraintList value={constraints.value} onChange={constraints.onChange} errors={form.errors.byPointer} />
    </FormDialog>
  )
}
