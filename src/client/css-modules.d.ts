/** Style sheets as the compiler sees them: Vite turns class names of `*.module.css` into properties. */
declare module '*.module.css' {
  const classes: { readonly [name: string]: string };
  export default classes;
}
