import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { number, useDates } from '../../ui'
import { dayText, fullDate, type DateSettings } from '../../ui/dates'
import './usage.css'
import { indexAt, spanOf, type UsagePoint } from './usagedata'

/** A change of the flag, drawn as a line in the chart. */
export interface Mark {
  /** In milliseconds. */
  time: number
  text: string
  environment?: string | null
}

interface ChartProps {
  points: readonly UsagePoint[]
  marks: readonly Mark[]
  /** Length of a bar in milliseconds: an hour or a day. */
  step: number
  label: string
}

const height = 240

/** Bars of how often a flag was on and off, above each other. A table with the same figures is beside it, for those who cannot see it. */
export function UsageChart({ points, marks, step, label }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  const [index, setIndex] = useState<number | null>(null)
  const dates = useDates()
  const { zone, form } = dates
  useEffect(() => {
    const element = box.current
    if (!element || points.length === 0) return
    let plot = draw(element, points, marks, step, { zone, form }, setIndex)
    const redraw = () => {
      plot.destroy()
      plot = draw(element, points, marks, step, { zone, form }, setIndex)
    }
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    resize.observe(element)
    // The canvas has the colours of the theme at the time of drawing.
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', redraw)
    const theme = new MutationObserver(redraw)
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      resize.disconnect()
      theme.disconnect()
      dark.removeEventListener('change', redraw)
      plot.destroy()
    }
  }, [points, marks, step, zone, form])
  const point = index === null ? undefined : points[index]
  return (
    <figure>
      <div ref={box} className="usage-chart" role="img" aria-label={label} />
      <figcaption className="row usage-legend">
        <span className="usage-key usage-key-yes">On{point && ` ${number(point.yes)}`}</span>
        <span className="usage-key usage-key-no">Off{point && ` ${number(point.no)}`}</span>
        {marks.length > 0 && <span className="usage-key usage-key-mark">Change of the flag</span>}
        {point && <span className="soft number">{timeText(point.time, step, dates)}</span>}
      </figcaption>
    </figure>
  )
}

/** The time of a bar: the day, and the hour for bars of an hour. Days are in UTC, as the server counts them. */
export function timeText(time: number, step: number, dates: DateSettings): string {
  const date = new Date(time)
  return step > hour ? dayText(date, { ...dates, zone: 'utc' }) : fullDate(date, dates)
}

const hour = 3_600_000
const inUTC = (step: number, { zone }: DateSettings) => step > hour || zone === 'utc'

// tickText is the time below the chart: the day for bars of a day and at midnight, otherwise the hour.
function tickText(seconds: number, step: number, dates: DateSettings): string {
  const timeZone = inUTC(step, dates) ? 'UTC' : undefined
  const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone })
  const text = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone }).format(seconds * 1000)
  return step > hour || text === '00:00' ? day.format(seconds * 1000) : text
}

function draw(
  element: HTMLElement,
  points: readonly UsagePoint[],
  marks: readonly Mark[],
  step: number,
  dates: DateSettings,
  onPoint: (index: number | null) => void,
): uPlot {
  const color = (name: string) => resolve(element, name)
  // Each bar is as wide as its hour or day, so that it is at its place beside the changes. The edge of the chart cuts the current one.
  const bars = uPlot.paths.bars!({ size: [1, Infinity], align: 1, gap: 2 })
  const axis = {
    stroke: color('fg-soft'),
    grid: { stroke: color('border'), width: 1 },
    ticks: { stroke: color('border'), width: 1 },
    font: `12px ${getComputedStyle(element).fontFamily}`,
  }
  const [first, last] = spanOf(points, step, Date.now())
  const totals = points.map((point) => point.yes + point.no)
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { x: { range: () => [first / 1000, last / 1000] }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
      axes: [
        { ...axis, space: 64, values: (_, splits) => splits.map((seconds) => tickText(seconds, step, dates)) },
        { ...axis, size: 64, values: (_, splits) => splits.map((value) => (Number.isInteger(value) ? number(value) : '')) },
      ],
      series: [
        {},
        { label: 'Off', width: 0, fill: color('chart-6'), paths: bars, points: { show: false } },
        { label: 'On', width: 0, fill: color('chart-2'), paths: bars, points: { show: false } },
      ],
      tzDate: inUTC(step, dates) ? (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC') : undefined,
      hooks: {
        setCursor: [
          ({ cursor, posToVal }) => onPoint(cursor.left === undefined || cursor.left < 0 ? null : indexAt(points, step, posToVal(cursor.left, 'x') * 1000)),
        ],
        draw: [(plot) => drawMarks(plot, marks, color('chart-1'))],
      },
    },
    [points.map((point) => point.time / 1000), totals, points.map((point) => point.yes)],
    element,
  )
}

function drawMarks(plot: uPlot, marks: readonly Mark[], stroke: string) {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.strokeStyle = stroke
  ctx.lineWidth = 2 * devicePixelRatio
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio])
  for (const mark of marks) {
    const x = plot.valToPos(mark.time / 1000, 'x', true)
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
  }
  ctx.restore()
}

// resolve returns a token as a colour that a canvas knows.
function resolve(element: HTMLElement, token: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(--${token})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
