# PETSc's configure builds Shellac after PETSc. Copy this file to config/BuildSystem/config/packages of PETSc 3.26:
#   ./configure --download-shellac=<tarball, folder or git address of Shellac>
import config.package
import os

class Configure(config.package.Package):
  def __init__(self, framework):
    config.package.Package.__init__(self, framework)
    self.download               = ['<tarball, folder or git address of Shellac>'] # only shown in the help
    self.functions              = []
    self.includes               = []
    self.buildLanguages         = ['Cxx']
    self.minCxxVersion          = 'c++17'
    self.skippackagewithoptions = 1
    self.linkedbypetsc          = 0
    self.builtafterpetsc        = 1
    self.providesDocs           = 1
    self.docsDirs               = ['include']

  def setupHelp(self, help):
    import nargs
    config.package.Package.setupHelp(self, help)
    help.addArgument('SHELLAC', '-download-shellac-cmake-arguments=string', nargs.ArgString(None, 0, 'Additional CMake arguments for the build of Shellac'))

  def setupDependencies(self, framework):
    config.package.Package.setupDependencies(self, framework)
    self.setCompilers    = framework.require('config.setCompilers', self)
    self.sharedLibraries = framework.require('PETSc.options.sharedLibraries', self)
    self.make            = framework.require('config.packages.make', self)
    self.cmake           = framework.require('config.packages.CMake', self)
    self.mpi             = framework.require('config.packages.MPI', self)
    self.cuda            = framework.require('config.packages.CUDA', self)
    self.deps            = [self.mpi]
    self.odeps           = [self.cuda]

  def consistencyChecks(self):
    config.package.Package.consistencyChecks(self)
    if self.argDB['download-shellac'] == 1:
      raise RuntimeError('Say where Shellac is: --download-shellac=<tarball, folder or git address>')

  def Install(self):
    if not self.checkSharedLibrariesEnabled():
      raise RuntimeError('Shellac needs shared libraries: leave out --with-shared-libraries=0')
    if not self.cmake.found:
      raise RuntimeError('Shellac needs CMake 3.18 or newer: add --download-cmake')

    if self.argDB['prefix'] and not 'package-prefix-hash' in self.argDB: # built after PETSc is installed, against that
      prefix = os.path.abspath(os.path.expanduser(self.argDB['prefix']))
      petsc  = ['-DPETSC_DIR='+prefix, '-DPETSC_ARCH=']
    else:
      prefix = os.path.join(self.petscdir.dir, self.arch)
      petsc  = ['-DPETSC_DIR='+self.petscdir.dir, '-DPETSC_ARCH='+self.arch]
    libdir = os.path.join(prefix, 'lib')
    self.include = [os.path.join(prefix, 'include')]
    self.lib     = [os.path.join(libdir, 'libshellac.'+self.setCompilers.sharedLibraryExt)]

    args = petsc + ['-DCMAKE_INSTALL_PREFIX='+prefix, '-DCMAKE_INSTALL_LIBDIR=lib', '-DBUILD_TESTING=OFF',
                    '-DSHELLAC_CUDA='+('ON' if self.cuda.found else 'OFF')]
    for language, variable in [('C', 'C'), ('Cxx', 'CXX')] + ([('CUDA', 'CUDA')] if self.cuda.found else []):
      self.pushLanguage(language)
      args.append('-DCMAKE_'+variable+'_COMPILER='+self.getCompiler())
      self.popLanguage()
    args = ' '.join('"'+arg+'"' for arg in args)
    if self.argDB['download-shellac-cmake-arguments']:
      args += ' '+self.argDB['download-shellac-cmake-arguments']
    build = os.path.join(self.packageDir, 'petsc-build-'+self.arch)
    self.addPost(self.packageDir,
                 [self.cmake.cmake+' -S . -B '+build+' '+args,
                  self.cmake.cmake+' --build '+build+' --parallel '+str(self.make.make_np)+' --target shellac equation',
                  self.cmake.cmake+' --install '+build,
                  # the name of the libraries that PETSc loads itself, where src/sys/dll/reg.c says so
                  'ln -sf libshellac.{0} {1}/libpetscshellac.{0}'.format(self.setCompilers.sharedLibraryExt, libdir)])
    return self.installDir
