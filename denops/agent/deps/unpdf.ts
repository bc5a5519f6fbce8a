export { getDocument } from "npm:unpdf@1.8.1/pdfjs";
