// Icons of 16 px, drawn for the console. They are decoration: the control beside them has the name.
const icon = (path: string) => () => (
  <svg
    width="16"
    height="16"
    viewBox="0 0 16 16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.5"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={path} />
  </svg>
)

export const Icons = {
  Plus: icon('M8 3v10M3 8h10'),
  Minus: icon('M3 8h10'),
  Close: icon('M4 4l8 8M12 4l-8 8'),
  Check: icon('M3 8.5l3.2 3L13 4.500'),
  More: icon('M3.500 8h.01M8 8h.01M12.500 8h.01'),
  Chevron: icon('M4 6l4 4 4-4'),
  ChevronRight: icon('M6 4l4 4-4 4'),
  ChevronLeft: icon('M10 4L6 8l4 4'),
  Up: icon('M8 13V3M4 7l4-4 4 4'),
  Down: icon('M8 3v10M4 9l4 4 4-4'),
  Search: icon('M7 12A5 5 0 107 2a5 5 0 000 10zM10.700 10.700L14 14'),
  Code: icon('M5.500 4.500L2 8l3.500 3.500M10.500 4.500L14 8l-3.500 3.500'),
  Copy: icon('M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3'),
  Edit: icon('M10.500 3L13 5.500 5.500 13H3v-2.500z'),
  Trash: icon('M3 4.500h10M6.500 4.500v-2h3v2M4.500 4.500l.6 9h5.800l.6-9'),
  Archive: icon('M2.500 3h11v3h-11zM3.500 6v7h9V6M6.500 8.500h3'),
  Undo: icon('M3 6h6.500a3.500 3.500 0 010 7H6M3 6l3-3M3 6l3 3'),
  Menu: icon('M2.500 4.500h11M2.500 8h11M2.500 11.500h11'),
  Filter: icon('M2.500 4h11M4.500 8h7M6.500 12h3'),
  Switch: icon('M5 4h6a4 4 0 010 8H5a4 4 0 010-8zM11 6.500a1.500 1.500 0 100 3 1.500 1.500 0 000-3z'),
  Star: icon('M8 2l1.800 3.800 4.200.5-3.100 2.900.8 4.100L8 11.300l-3.700 2 .8-4.100L2 6.300l4.200-.5z'),
  Flag: icon('M3.500 14V2.500M3.500 3h9l-2 2.750 2 2.750h-9'),
  Folder: icon('M2 4h4l1.500 1.500H14V13H2z'),
  Play: icon('M4.500 3v10l8-5z'),
  Users: icon(
    'M6 8a2.500 2.500 0 100-5 2.500 2.500 0 000 5zM1.500 13.500c.3-2.300 2-3.800 4.500-3.800s4.200 1.500 4.500 3.800M11 3.300a2.300 2.300 0 010 4.400M12.300 10.100c1.300.5 2 1.700 2.200 3.400',
  ),
  User: icon('M8 8a2.800 2.800 0 100-5.600A2.800 2.800 0 008 8zM2.800 13.800c.4-2.500 2.400-4 5.200-4s4.800 1.500 5.200 4'),
  Key: icon('M5.500 13a3 3 0 100-6 3 3 0 000 6zM7.700 7.800L13.500 2M11 4.500l2 2'),
  Shield: icon('M8 2l5 1.800V8c0 3-2 5-5 6-3-1-5-3-5-6V3.800z'),
  Robot: icon('M3.500 6h9v7h-9zM8 6V3M6 9.200v.6M10 9.200v.6'),
  Layers: icon('M8 2.500l6 3-6 3-6-3zM2 8.500l6 3 6-3M2 11l6 3 6-3'),
  Globe: icon('M8 14A6 6 0 108 2a6 6 0 000 12zM2 8h12M8 2c2 2 2.500 4 2.500 6S10 12 8 14C6 12 5.500 10 5.500 8S6 4 8 2z'),
  Tag: icon('M2.500 2.500h5l6 6-5 5-6-6zM5.200 5.200h.01'),
  Target: icon('M8 14A6 6 0 108 2a6 6 0 000 12zM8 11a3 3 0 100-6 3 3 0 000 6z'),
  Sliders: icon(
    'M2.500 4.500h5M11 4.500h2.500M2.500 11.500H5M8.500 11.500h5M9.250 6.250a1.750 1.750 0 100-3.500 1.750 1.750 0 000 3.500zM6.750 13.250a1.750 1.750 0 100-3.500 1.750 1.750 0 000 3.500z',
  ),
  Swap: icon('M2.500 5.500h10M10 3l2.500 2.500L10 8M13.500 10.500h-10M6 8l-2.500 2.500L6 13'),
  Hook: icon('M6.500 5.500a2 2 0 113 1.700l2 3.600M9.500 12a2 2 0 102-1.200H6M6.600 7L4.700 10.200a2 2 0 101.800 2.300'),
  Clock: icon('M8 14A6 6 0 108 2a6 6 0 000 12zM8 4.800V8l2.200 1.500'),
  App: icon('M2.500 3h11v10h-11zM2.500 6h11'),
  Plug: icon('M6 2v3M10 2v3M4 5h8v2.500a4 4 0 01-8 0zM8 11.500V14'),
  Book: icon('M3 2.500h8.500a1.500 1.500 0 011.500 1.500v9.500H4.500A1.500 1.500 0 013 12zM3 12a1.500 1.500 0 011.500-1.500H13'),
  Sun: icon(
    'M8 10.800a2.800 2.800 0 100-5.600 2.800 2.800 0 000 5.600zM8 1.500v1M8 13.500v1M1.500 8h1M13.500 8h1M3.400 3.400l.7.7M11.900 11.900l.7.7M3.400 12.600l.7-.7M11.900 4.100l.7-.7',
  ),
  Moon: icon('M13.500 9.500A5.800 5.800 0 016.500 2.500a5.800 5.800 0 107 7z'),
  Screen: icon('M2 3h12v8H2zM6 14h4M8 11v3'),
  Out: icon('M9.500 3h-6v10h6M7 8h7M11.500 5.500L14 8l-2.500 2.500'),
  External: icon('M9 2.500h4.500V7M13.500 2.500L7.500 8.500M11.500 9.500v4h-9v-9h4'),
  Warning: icon('M8 2.500L14.500 13.500h-13zM8 6.500v3.200M8 11.700h.01'),
  Info: icon('M8 14A6 6 0 108 2a6 6 0 000 12zM8 7.300v3.500M8 5.200h.01'),
  Refresh: icon('M13 8a5 5 0 11-1.500-3.500M13 2.500v3h-3'),
  Chart: icon('M2.500 2.500v11h11M5.500 10.500V8M8.500 10.500V5M11.500 10.500V6.500'),
  Grip: icon('M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01'),
}
